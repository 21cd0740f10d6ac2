"""HDFS with one name node and one data node in one process: MiniDFSClusterManager from Hadoop's own tests."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from integration.services.maven import jar
from integration.services.process import LOOPBACK, free_port, running

# PySpark 3.5.7 includes the client of this version.
HADOOP = "3.3.4"
_MANAGER = "org.apache.hadoop.test.MiniDFSClusterManager"


@dataclass(frozen=True)
class Hdfs:
    """A running HDFS; `address` is the name node's URL."""

    address: str

    def files(self, path: str) -> list[str]:
        """The files below a folder; none if the folder does not exist."""
        return sorted(self.owners(path))

    def owners(self, path: str) -> dict[str, str]:
        """The owners of the files below a folder, by the HDFS client in this process's JVM."""
        from pyspark import SparkContext

        context = SparkContext._active_spark_context
        assert context is not None
        jvm = context._jvm
        place = jvm.org.apache.hadoop.fs.Path(self.address + path)
        system = place.getFileSystem(jvm.org.apache.hadoop.conf.Configuration())
        found = {}
        if system.exists(place):
            listed = system.listFiles(place, True)
            while listed.hasNext():
                file = listed.next()
                found[file.getPath().toUri().getPath()] = file.getOwner()
        return found


def spark_jars() -> Path:
    """PySpark's jars for a class path: Hadoop's client and the dependencies of its servers."""
    from pyspark.find_spark_home import _find_spark_home

    return Path(_find_spark_home()) / "jars" / "*"


@contextlib.contextmanager
def hdfs(folder: Path, port: int | None = None) -> Iterator[Hdfs]:
    """Run an empty HDFS; its files are lost when the block ends.

    Args:
        folder: for its files and its log.
        port: the name node's port; a free one if not given.

    Raises:
        RuntimeError: HDFS did not start.
    """
    port = port or free_port()
    jars = [
        jar("org.apache.hadoop", "hadoop-client-minicluster", HADOOP),
        jar("org.mockito", "mockito-core", "2.28.2"),
        jar("junit", "junit", "4.13.2"),
        spark_jars(),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    # HDFS writes this file once its data node runs, too.
    ready = folder / "hdfs-site.xml"
    ready.unlink(missing_ok=True)
    command = [
        *(
            "java",
            "-Xmx512m",
            f"-Dtest.build.data={folder / 'data'}",
            "-cp",
            ":".join(map(str, jars)),
            _MANAGER,
        ),
        *("-format", "-datanodes", "1", "-nnport", str(port)),
        *("-D", "dfs.permissions.enabled=false", "-D", "dfs.replication=1"),
        *("-writeConfig", str(ready)),
    ]
    with running(command, folder / "hdfs.log", [port], cwd=folder):
        end = time.monotonic() + 600
        while not ready.exists():
            if time.monotonic() > end:
                raise RuntimeError(f"HDFS has no data node:\n{(folder / 'hdfs.log').read_text()[-3000:]}")
            time.sleep(0.2)
        yield Hdfs(f"hdfs://{LOOPBACK}:{port}")
