"""The version of state in a local folder, stored in a small file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import Final

from dbt.adapters.paimon.state.kinds import CURRENT, Kind, read_version
from dbt.adapters.paimon.state.migration import NO_STEPS, Step, migrate

FILE: Final = "state-version"


def check_folder(kind: Kind, folder: Path) -> int:
    """The version of a folder, which may not exist. Raises NewerStateError if it is newer than this adapter."""
    text = None
    with suppress(FileNotFoundError, NotADirectoryError):
        text = (folder / FILE).read_text(encoding="utf-8", errors="replace")
    return read_version(kind, text, str(folder))


def ready_folder(kind: Kind, folder: Path, steps: Mapping[int, Step] = NO_STEPS) -> None:
    """Migrate an existing folder to the current version; several processes may do so concurrently.

    Raises:
        NewerStateError: the folder is newer than this adapter; it is not changed.
    """
    found = check_folder(kind, folder)
    if found < CURRENT[kind]:
        migrate(kind, found, lambda version: _write(folder, version), steps)


def _write(folder: Path, version: int) -> None:
    draft = folder / f".{FILE}.{os.getpid()}.{get_ident()}"
    draft.write_text(f"{version}\n", encoding="utf-8")
    draft.replace(folder / FILE)
