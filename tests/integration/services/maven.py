"""Jars from Maven Central for the services of the tests; downloaded once, kept beside other caches."""

from __future__ import annotations

import os
import time
import urllib.request
from http.client import IncompleteRead
from pathlib import Path

CENTRAL = "https://repo1.maven.org/maven2"


def cache() -> Path:
    """The folder of what tests download."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dbt-paimon"


def jar(group: str, artifact: str, version: str) -> Path:
    """The path of an artifact's jar, without what it depends on.

    Raises:
        urllib.error.URLError: it is neither here nor to be had.
    """
    folder = cache() / "jars"
    name = f"{artifact}-{version}.jar"
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}"
        part.write_bytes(_download(f"{CENTRAL}/{group.replace('.', '/')}/{artifact}/{version}/{name}"))
        part.rename(path)
    return path


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
