"""Jars from Maven Central for the services of the tests; downloaded once and cached."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
import urllib.request
from http.client import IncompleteRead
from pathlib import Path

CENTRAL = "https://repo1.maven.org/maven2"
# A pom's `packaging` if its artifact is a jar: a few poms say `bundle`.
_TYPES = ("jar", "bundle")
# Seconds: Ivy fetches the poms of a hundred artifacts one by one.
_RESOLVED_IN = 1800


def cache() -> Path:
    """The folder for the tests' downloads."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dbt-paimon"


def jar(group: str, artifact: str, version: str, classifier: str = "") -> Path:
    """The path of an artifact's jar, without its dependencies.

    Args:
        classifier: selects another jar of the artifact, for example `tests`.

    Raises:
        urllib.error.URLError: it is not in the cache and cannot be downloaded.
    """
    folder = cache() / "jars"
    name = f"{artifact}-{version}{classifier and f'-{classifier}'}.jar"
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}"
        part.write_bytes(_download(f"{CENTRAL}/{group.replace('.', '/')}/{artifact}/{version}/{name}"))
        part.rename(path)
    return path


def with_dependencies(group: str, artifact: str, version: str) -> Path:
    """The folder with an artifact's jar and its runtime dependencies; PySpark's Ivy fetches them once.

    Raises:
        RuntimeError: a jar cannot be downloaded.
    """
    folder = cache() / "with-dependencies" / f"{artifact}-{version}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as part:
            _retrieve(Path(part), group, artifact, version)
            with contextlib.suppress(OSError):  # another process was faster
                Path(part, "lib").rename(folder)
    return folder


def _retrieve(folder: Path, group: str, artifact: str, version: str) -> None:
    import pyspark

    (ivy,) = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    command = [
        *(java, "-jar", ivy, "-cache", folder / "cache", "-confs", "compile,runtime,master"),
        *("-dependency", group, artifact, version, "-types", *_TYPES),
        *("-retrieve", folder / "lib" / "[artifact]-[revision](-[classifier]).[ext]"),
    ]
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        capture_output=True,
        text=True,
        timeout=_RESOLVED_IN,
        cwd=folder,
    )
    if done.returncode:
        raise RuntimeError(f"{group}:{artifact}:{version} is not to be had:\n{done.stdout[-3000:]}")


def _download(url: str) -> bytes:
    for pause in (2, 10, 30):
        try:
            return _read(url)
        except (OSError, IncompleteRead):  # noqa: PERF203 - a few attempts
            time.sleep(pause)
    return _read(url)


def _read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return bytes(answer.read())
