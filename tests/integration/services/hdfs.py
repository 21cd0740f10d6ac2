"""HDFS of one name node and one data node, in one process: MiniDFSClusterManager of Hadoop's own tests."""

from __future__ import annotations

import contextlib
import json
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from integration.services.maven import jar
from integration.services.process import LOOPBACK, free_port, running

# PySpark 3.5.7 brings the client of this version.
_HADOOP = "3.3.4"
_MANAGER = "org.apache.hadoop.test.MiniDFSClusterManager"


@dataclass(frozen=True)
class Hdfs:
    """Where the name node listens: for clients, and for HTTP."""

    address: str
    web: str

    def files(self, path: str) -> list[str]:
        """The files below a folder, by WebHDFS; none where there is no such folder."""
        url = f"{self.web}/webhdfs/v1{urllib.parse.quote(path)}?op=LISTSTATUS&user.name=root"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                listed = json.load(answer)["FileStatuses"]["FileStatus"]
        except urllib.error.HTTPError as exc:
            if exc.code == 404:
                return []
            raise
        found = []
        for item in listed:
            below = f"{path.rstrip('/')}/{item['pathSuffix']}"
            found += self.files(below) if item["type"] == "DIRECTORY" else [below]
        return sorted(found)


@contextlib.contextmanager
def hdfs(folder: Path, port: int | None = None) -> Iterator[Hdfs]:
    """Run an empty HDFS; what it holds is gone when the block ends.

    Args:
        folder: for its files and its log.
        port: of the name node, if it has to be a certain one.

    Raises:
        RuntimeError: it did not start.
    """
    from pyspark.find_spark_home import _find_spark_home

    port, web = port or free_port(), free_port()
    jars = [
        jar("org.apache.hadoop", "hadoop-client-minicluster", _HADOOP),
        jar("org.mockito", "mockito-core", "2.28.2"),
        jar("junit", "junit", "4.13.2"),
        Path(_find_spark_home()) / "jars" / "*",
    ]
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        *(
            "java",
            "-Xmx512m",
            f"-Dtest.build.data={folder / 'data'}",
            "-cp",
            ":".join(map(str, jars)),
            _MANAGER,
        ),
        *("-format", "-datanodes", "1", "-nnport", str(port), "-httpport", str(web)),
        *("-D", "dfs.permissions.enabled=false", "-D", "dfs.replication=1"),
        *("-writeConfig", str(folder / "hdfs-site.xml")),
    ]
    with running(command, folder / "hdfs.log", [port, web], cwd=folder):
        yield Hdfs(f"hdfs://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{web}")
