"""Keeps the results of the last run, which other dbt commands would overwrite."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

RESULTS: Final = "run_results.json"
# The copy in the same folder, for `dbt-paimon report`.
KEPT_RESULTS: Final = "paimon_last_run_results.json"
# dbt commands that build or test nodes, and others that write the file (dbt.cli.types.Command).
BUILDING: Final = frozenset(("build", "run", "seed", "snapshot", "test", "retry", "clone"))
_OTHERS: Final = frozenset(("compile", "generate", "run-operation", "show"))


def keep(config: Any) -> None:
    """Copy the results of the last run if this command will overwrite them."""
    from dbt.flags import get_flags

    # `dbt debug` creates the adapter from a profile, which has no target folder.
    target = getattr(config, "project_target_path", None)
    if target is None or getattr(get_flags(), "WHICH", "") not in _OTHERS:
        return
    path = Path(target, RESULTS)
    # If the file cannot be read, this command still runs.
    with suppress(OSError, ValueError):
        if json.loads(path.read_text("utf-8")).get("args", {}).get("which") in BUILDING:
            shutil.copyfile(path, path.with_name(KEPT_RESULTS))
