"""Which class-data-sharing (CDS) archive a JVM starts with, and when it creates one."""

import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dbt.adapters.paimon.machine.java import JavaRuntime
from dbt.adapters.paimon.spark.launch import cds_archive
from dbt.adapters.paimon.spark.launch.cds_archive import java_options

WHOLE = struct.pack("=I", 0xF00BABA8) + b"classes"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(cds_archive.VARIABLE, raising=False)
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    return tmp_path / "dbt-paimon"


@pytest.fixture
def java(tmp_path: Path) -> JavaRuntime:
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.1"')
    return JavaRuntime(str(tmp_path), 17, "JAVA_HOME")


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    path = tmp_path / "a.jar"
    path.write_text("a")
    return path


def made(java: JavaRuntime, jar: Path) -> Path:
    (option, *_) = java_options(java, [jar], {})
    name, _, path = option.partition("=")
    assert name == "-XX:ArchiveClassesAtExit"
    return Path(path)


def test_made_once_and_used(java: JavaRuntime, jar: Path) -> None:
    archive = made(java, jar)
    # This process is creating the archive, so no other process does.
    assert java_options(java, [jar], {}) == []
    archive.write_bytes(WHOLE)
    for _ in range(2):
        assert java_options(java, [jar], {})[0] == f"-XX:SharedArchiveFile={archive}"


def test_an_archive_that_others_may_have_written_is_not_used(java: JavaRuntime, jar: Path) -> None:
    archive = made(java, jar)
    archive.write_bytes(WHOLE)
    assert java_options(java, [jar], {})[0] == f"-XX:SharedArchiveFile={archive}"
    archive.chmod(0o666)
    assert f"-XX:SharedArchiveFile={archive}" not in java_options(java, [jar], {})


def test_half_an_archive_is_not_used(java: JavaRuntime, jar: Path) -> None:
    archive = made(java, jar)
    archive.write_bytes(b"\0" * 100)
    assert java_options(java, [jar], {}) == []


def test_made_again_when_its_maker_has_died(java: JavaRuntime, jar: Path) -> None:
    archive = made(java, jar)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    archive.with_suffix(".pid").write_text(str(ended.pid))
    assert made(java, jar) == archive


def test_a_changed_archive_is_deleted(java: JavaRuntime, jar: Path) -> None:
    archive = made(java, jar)
    archive.write_bytes(WHOLE)
    java_options(java, [jar], {})
    archive.write_bytes(WHOLE + b"and more")
    archive.with_suffix(".pid").unlink()
    assert made(java, jar) == archive
    assert not archive.exists()


def test_a_changed_jar_needs_another_archive(java: JavaRuntime, jar: Path) -> None:
    first = made(java, jar)
    jar.write_text("another")
    assert made(java, jar) != first


def test_old_archives_are_deleted(java: JavaRuntime, jar: Path, folder: Path) -> None:
    archives = []
    for number in range(10):
        jar.write_text("a" * number)
        archives.append(made(java, jar))
        archives[-1].write_bytes(WHOLE)
        java_options(java, [jar], {})
        os.utime(archives[-1].with_suffix(".json"), (number, number))
    assert len(list(folder.glob("*.jsa"))) <= 7
    assert archives[-1].exists() and not archives[0].exists()


@pytest.mark.parametrize(
    ("major", "variable", "conf"),
    [
        (11, "1", {}),
        (17, "0", {}),
        (17, "1", {"spark.driver.extraJavaOptions": "-XX:SharedArchiveFile=own.jsa"}),
        (17, "1", {"spark.driver.extraJavaOptions": "-Xshare:off"}),
    ],
)
def test_no_archive(
    major: int,
    variable: str,
    conf: dict[str, str],
    java: JavaRuntime,
    jar: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(cds_archive.VARIABLE, variable)
    assert java_options(JavaRuntime(java.home, major, ""), [jar], conf) == []


def test_without_a_cache_folder_a_temporary_one(
    java: JavaRuntime, jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(jar))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert any(str(tmp_path) in option for option in java_options(java, [jar], {}))


def test_the_note_is_json(java: JavaRuntime, jar: Path) -> None:
    archive = made(java, jar)
    archive.write_bytes(WHOLE)
    java_options(java, [jar], {})
    assert json.loads(archive.with_suffix(".json").read_text())[0] == str(archive)
