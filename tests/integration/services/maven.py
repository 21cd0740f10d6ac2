"""Jars from Maven Central for the services of the tests; downloaded once, kept beside other caches."""

from __future__ import annotations

import os
import urllib.request
from pathlib import Path

CENTRAL = "https://repo1.maven.org/maven2"


def jar(group: str, artifact: str, version: str) -> Path:
    """The path of an artifact's jar, without what it depends on.

    Raises:
        urllib.error.URLError: it is neither here nor to be had.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dbt-paimon" / "jars"
    name = f"{artifact}-{version}.jar"
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}"
        urllib.request.urlretrieve(f"{CENTRAL}/{group.replace('.', '/')}/{artifact}/{version}/{name}", part)
        part.rename(path)
    return path
