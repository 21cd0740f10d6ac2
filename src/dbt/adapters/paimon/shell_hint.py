"""Recommends `dbt-paimon shell` to users who run dbt again within a few minutes."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.kept_results import RESULTS
from dbt.adapters.paimon.machine.cache_folder import cache_folder, cache_key

logger = AdapterLogger("Paimon")

_RECENT_SECONDS: Final = 600
_HINT: Final = (
    "Most of a short run is the start of Spark. `dbt-paimon shell` keeps Spark and the project loaded, so that a small "
    "model takes about a second: pip install 'dbt-paimon[session,shell]'. See docs/shell.md."
)


def give(config: Any) -> None:
    """Log the hint once per project: in a terminal, if a `dbt run` or `build` starts Spark soon after another run."""
    from dbt.flags import get_flags

    target = getattr(config, "project_target_path", None)
    if target is None or getattr(get_flags(), "WHICH", "") not in ("run", "build") or not sys.stdout.isatty():
        return
    if config.credentials.method != PaimonConnectionMethod.SESSION or _has_spark():
        return
    # Without another run's results or a cache folder, do not log the hint.
    with suppress(OSError):
        if time.time() - Path(target, RESULTS).stat().st_mtime < _RECENT_SECONDS:
            Path(cache_folder(), f"shell-hint-{cache_key([target])}").touch(exist_ok=False)
            logger.info(_HINT)


def _has_spark() -> bool:
    """Whether Spark runs in this process already, as in the shell or a notebook."""
    pyspark = sys.modules.get("pyspark")
    return pyspark is not None and pyspark.SparkContext._active_spark_context is not None
