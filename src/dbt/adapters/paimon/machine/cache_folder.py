"""The user's cache folder, which makes later runs start faster; it can be deleted at any time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.machine.private_files import own_folder, temporary_folder
from dbt.adapters.paimon.state.folders import ready_folder
from dbt.adapters.paimon.state.kinds import Kind, NewerStateError

logger = AdapterLogger("Paimon")

Stamp = tuple[str, int, int]


def cache_folder() -> Path:
    """`dbt-paimon` in the user's cache folder (XDG Base Directory Specification); created if it does not exist.

    It contains code that is executed (jars and Java classes). If other users can change it, or if a newer adapter has
    written it, a temporary folder is used instead. Raises OSError if a folder cannot be created, and DbtRuntimeError
    if the temporary folder cannot be used either.
    """
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    folder = (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "dbt-paimon"
    try:
        reason = own_folder(folder)
    except OSError as exc:
        # A read-only home is usual in containers.
        logger.debug(f"The cache folder {folder} cannot be created: {exc}")
        return _other()
    if reason is None:
        try:
            return _ready(folder)
        except NewerStateError as exc:
            _warn(f"The cache folder {folder} is not used: {exc.msg}")
    else:
        _warn(
            f"The cache folder {folder} is not used: {reason}. Delete it, or make sure that you own it, that its mode "
            "is 700, and that only you can write to its parent folders."
        )
    return _other()


def _other() -> Path:
    """The temporary folder that is used instead."""
    folder = temporary_folder() / "cache"
    folder.mkdir(exist_ok=True, mode=0o700)
    return _ready(folder)


def _ready(folder: Path) -> Path:
    """Return the folder after storing its version there; raises NewerStateError if a newer adapter has written it."""
    with suppress(OSError):
        ready_folder(Kind.CACHE, folder)
    return folder


@lru_cache(maxsize=8)
def _warn(text: str) -> None:
    """Log a warning once per process."""
    logger.warning(text)


def stamp(path: str | Path) -> Stamp:
    """A file's path, size and modification time (ns), which together change whenever the file does."""
    found = Path(path).stat()
    return str(path), found.st_size, found.st_mtime_ns


def cache_key(parts: Iterable[object]) -> str:
    """A short hash of what a cached file is made from, used in its name."""
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:20]
