"""The user's cache folder, which lets later runs start faster; it can be deleted at any time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.machine.private_files import own_folder, temporary_folder

logger = AdapterLogger("Paimon")

Stamp = tuple[str, int, int]


def cache_folder() -> Path:
    """`dbt-paimon` in the user's cache folder (XDG Base Directory Specification); created if it does not exist.

    It holds code that is run: jars and Java classes. If other users may change it, a folder among the temporary ones is
    used instead, and nothing is read from this one.

    Raises:
        OSError: it cannot be created.
        DbtRuntimeError: other users may change the temporary folder, too.
    """
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    folder = (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "dbt-paimon"
    reason = own_folder(folder)
    if reason is None:
        return folder
    _warn(folder, reason)
    other = temporary_folder() / "cache"
    other.mkdir(exist_ok=True, mode=0o700)
    return other


@lru_cache(maxsize=8)
def _warn(folder: Path, reason: str) -> None:
    """Log the reason, once per process."""
    logger.warning(
        f"The cache folder {folder} is not used: {reason}. Remove it, or make it yours with mode 700, in "
        "folders that only you can write to."
    )


def stamp(path: str | Path) -> Stamp:
    """A file's path, size and modification time (ns); if the file changes, so does its stamp.

    Raises:
        OSError: the file does not exist.
    """
    found = Path(path).stat()
    return str(path), found.st_size, found.st_mtime_ns


def fingerprint(parts: Iterable[object]) -> str:
    """A short name derived from some values."""
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:20]
