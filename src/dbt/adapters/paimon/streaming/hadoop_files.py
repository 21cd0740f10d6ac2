"""Small files of a checkpoint, wherever Hadoop's file systems reach: local, HDFS, an object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class HadoopFolder:
    """A folder and its files."""

    def __init__(self, session: SparkSession, location: str) -> None:
        jvm: Any = session._jvm
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path(location)
        conf = session._jsparkSession.sessionState().newHadoopConf()
        self._files = self._path.getFileSystem(conf)

    def names(self, folder: str = "") -> list[str]:
        """The names in the folder, or in one below it; none if it is not there."""
        path = self._at(folder) if folder else self._path
        if not self._files.exists(path):
            return []
        return [status.getPath().getName() for status in self._files.listStatus(path)]

    def read(self, name: str) -> str | None:
        """A file's text; None if it is not there."""
        path = self._at(name)
        if not self._files.exists(path):
            return None
        stream = self._files.open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def modified_at(self, name: str) -> float:
        """When a file was written, in seconds since 1970."""
        return float(self._files.getFileStatus(self._at(name)).getModificationTime()) / 1000

    def write(self, name: str, text: str) -> None:
        """Write a file whole, or leave the one that is there as it was."""
        self._files.mkdirs(self._path)
        draft, path = self._at(f".{name}.draft"), self._at(name)
        stream = self._files.create(draft, True)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()
        # HDFS does not rename onto a name that is taken.
        if self._files.exists(path):
            self._files.delete(path, False)
        self._files.rename(draft, path)

    def delete_file(self, name: str) -> None:
        """A file of it, if it is there."""
        self._files.delete(self._at(name), False)

    def delete(self) -> None:
        """The folder and all in it."""
        self._files.delete(self._path, True)

    def _at(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._path, name)
