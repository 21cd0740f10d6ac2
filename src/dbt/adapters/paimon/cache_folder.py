"""What this user's runs of dbt keep for the next ones, to start sooner: nothing in it is needed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

Stamp = tuple[str, int, int]


def cache_folder() -> Path:
    """`dbt-paimon` in the user's folder of caches (XDG Base Directory Specification); made if it is not there.

    Raises:
        OSError: it cannot be made.
    """
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    folder = (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "dbt-paimon"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def stamp(path: str | Path) -> Stamp:
    """A file's path, size and time of change (ns): another file has another stamp.

    Raises:
        OSError: it is not there.
    """
    found = Path(path).stat()
    return str(path), found.st_size, found.st_mtime_ns


def fingerprint(parts: Iterable[object]) -> str:
    """A name for what some values say together."""
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:20]
