"""Jars that Ivy fetches must match the repository's checksums, and only one process at a time fetches them."""

from __future__ import annotations

import functools
import hashlib
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

import pytest

POM = (
    "<project><modelVersion>4.0.0</modelVersion>"
    "<groupId>org.nobody</groupId><artifactId>thing</artifactId><version>1.0</version></project>"
)
START = """
import os, sys
import pyspark
from dbt_common.exceptions import DbtRuntimeError
from dbt.adapters.paimon.machine.java import find_java
from dbt.adapters.paimon.spark.launch import jvm
repository, ivy = sys.argv[1:]
package = "org.nobody:thing:1.0"
conf = {"spark.master": "local[1]", "spark.driver.memory": "512m", "spark.jars.packages": package,
        "spark.jars.repositories": repository, "spark.jars.ivy": ivy}
jvm._RESOLVE_AGAIN_AFTER = ()
try:
    jvm.launch(conf, (), find_java(os.environ, pyspark.__version__))
except DbtRuntimeError:
    sys.exit(3)
"""


class SlowRepository(SimpleHTTPRequestHandler):
    """Sends the second half of a jar one second later."""

    def copyfile(self, source: BinaryIO, outputfile: BinaryIO) -> None:  # type: ignore[override]
        content = source.read()
        outputfile.write(content[: len(content) // 2])
        if self.path.endswith(".jar"):
            time.sleep(1)
        outputfile.write(content[len(content) // 2 :])


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "repository" / "org" / "nobody" / "thing" / "1.0"
    folder.mkdir(parents=True)
    (folder / "thing-1.0.pom").write_text(POM)
    with zipfile.ZipFile(folder / "thing-1.0.jar", "w") as jar:
        jar.writestr("thing.txt", "thing")
    for file in list(folder.iterdir()):
        file.with_name(f"{file.name}.sha1").write_text(hashlib.sha1(file.read_bytes()).hexdigest())
    handler = functools.partial(SlowRepository, directory=tmp_path / "repository")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("tampered", [False, True])
def test_a_jar_of_another_checksum(tmp_path: Path, repository: str, tampered: bool) -> None:
    if tampered:
        jar = tmp_path / "repository" / "org" / "nobody" / "thing" / "1.0" / "thing-1.0.jar"
        with zipfile.ZipFile(jar, "a") as content:
            content.writestr("more.txt", "more")
    command = [sys.executable, "-c", START, repository, str(tmp_path / "ivy")]
    ended = subprocess.run(command, cwd=tmp_path, timeout=300, check=False)
    assert ended.returncode == (3 if tampered else 0)
    assert (tmp_path / "ivy" / "jars" / "org.nobody_thing-1.0.jar").exists() is not tampered


def test_two_processes_fetch_into_one_folder(tmp_path: Path, repository: str) -> None:
    command = [sys.executable, "-c", START, repository, str(tmp_path / "ivy")]
    both = [subprocess.Popen(command, cwd=tmp_path) for _ in range(2)]
    assert [process.wait(timeout=300) for process in both] == [0, 0]
    with zipfile.ZipFile(tmp_path / "ivy" / "jars" / "org.nobody_thing-1.0.jar") as jar:
        assert jar.read("thing.txt") == b"thing"
