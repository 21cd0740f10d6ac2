"""The version of state in a local folder, stored in a small file."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import Final

from dbt.adapters.paimon.state.kinds import CURRENT, Kind, refuse_newer

FILE: Final = "state-version"


def ready_folder(kind: Kind, folder: Path) -> None:
    """Store the current version in a folder that has none; several processes may do so concurrently.

    Raises:
        NewerStateError: a newer adapter has written the folder; nothing was changed.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        refuse_newer(kind, (folder / FILE).read_text(encoding="utf-8", errors="replace"), str(folder))
        return
    draft = folder / f".{FILE}.{os.getpid()}.{get_ident()}"
    draft.write_text(f"{CURRENT[kind]}\n", encoding="utf-8")
    draft.replace(folder / FILE)
