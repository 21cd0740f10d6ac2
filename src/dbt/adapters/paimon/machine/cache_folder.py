"""What this user's runs of dbt keep for the next ones, to start sooner: nothing in it is needed."""

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
    """`dbt-paimon` in the user's folder of caches (XDG Base Directory Specification); made if it is not there.

    What is in it is run: jars, and classes of Java. Where somebody else may change it, a folder among the temporary
    ones takes its place, and nothing is read from this one.

    Raises:
        OSError: it cannot be made.
        DbtRuntimeError: somebody else may change that other one, too.
    """
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    folder = (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "dbt-paimon"
    reason = own_folder(folder)
    if reason is None:
        return folder
    _tell(folder, reason)
    other = temporary_folder() / "cache"
    other.mkdir(exist_ok=True, mode=0o700)
    return other


@lru_cache(maxsize=8)
def _tell(folder: Path, reason: str) -> None:
    """Once in a process."""
    logger.warning(
        f"The cache folder {folder} is not used: {reason}. Remove it, or have it belong to you, with mode 700, in "
        "folders that nobody else may write."
    )


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
