"""Reads and writes small files of a checkpoint through Hadoop: on a local disk, HDFS or an object store."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.redaction import redact_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Hadoop's errors if no file system is registered for the scheme, or its class is not on the classpath.
_NO_FILE_SYSTEM: Final = re.compile(r"UnsupportedFileSystemException|ClassNotFoundException: Class \S+ not found")


class HadoopFolder:
    """A folder of small text files; the folder need not exist."""

    def __init__(self, session: SparkSession, location: str) -> None:
        """Raise DbtRuntimeError if Hadoop has no file system for the location."""
        jvm: Any = session._jvm
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path(location)
        conf = session._jsparkSession.sessionState().newHadoopConf()
        try:
            self._files = self._path.getFileSystem(conf)
        except Exception as exc:
            if not _NO_FILE_SYSTEM.search(messages.error_text(exc)):
                raise
            raise DbtRuntimeError(
                f"A stream's checkpoint cannot be kept in {redact_text(location)}: Hadoop has no file system for this "
                "URI (and cannot use Paimon's). Set checkpoint_location to a folder that every run can "
                "reach: hdfs://…, file:///…, or s3a://… with org.apache.hadoop:hadoop-aws among the jars."
            ) from None

    def names(self, folder: str = "") -> list[str]:
        """The file names in the folder or in a subfolder; empty if it does not exist."""
        path = self._at(folder) if folder else self._path
        if not self._files.exists(path):
            return []
        return [status.getPath().getName() for status in self._files.listStatus(path)]

    def read(self, name: str) -> str | None:
        """The content of a file; None if it does not exist."""
        from py4j.protocol import Py4JJavaError

        path = next(filter(self._files.exists, (self._at(name), self._at(_next(name)))), None)
        if path is None:
            return None
        try:
            stream = self._files.open(path)
        except Py4JJavaError as exc:
            if "java.io.FileNotFoundException" in str(exc):
                # Another thread has deleted the file in the meantime.
                return None
            raise
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def modified_at(self, name: str) -> float:
        """When a file was last modified, in seconds since 1970."""
        return float(self._files.getFileStatus(self._at(name)).getModificationTime()) / 1000

    def write(self, name: str, text: str) -> None:
        """Write a file atomically: even after a failure, `read` returns either the old or the new content in full."""
        self._files.mkdirs(self._path)
        draft, path, coming = self._at(f".{name}.draft"), self._at(name), self._at(_next(name))
        stream = self._files.create(draft, True)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()
        if not self._files.exists(path):
            self._files.rename(draft, path)
            return
        # HDFS cannot rename onto an existing name. So there are two names: `read` always finds one of them.
        self._files.delete(coming, False)
        self._files.rename(draft, coming)
        self._files.delete(path, False)
        self._files.rename(coming, path)

    def delete_file(self, name: str) -> None:
        self._files.delete(self._at(name), False)

    def delete(self) -> None:
        """Delete the folder and everything in it."""
        self._files.delete(self._path, True)

    def _at(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._path, name)


def _next(name: str) -> str:
    """The temporary name of a file's complete new version, until it replaces the old one."""
    return f".{name}.next"
