"""The connector to measure: the first jar in DBT_PAIMON_JARS, else the first connector in Ivy's cache."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError


@lru_cache(maxsize=1)
def connector() -> Path:
    """The path of the jar.

    Raises:
        DbtRuntimeError: Ivy's cache has no connector; `make run` downloads one.
    """
    given = [jar for jar in os.environ.get("DBT_PAIMON_JARS", "").split(",") if jar]
    if given:
        return Path(given[0]).resolve()
    found = sorted(Path.home().glob(".ivy2*/jars/org.apache.paimon_paimon-spark-3.5*.jar"))
    if not found:
        raise DbtRuntimeError("No connector: run `make run` once, or set DBT_PAIMON_JARS to the path of its jar.")
    return found[0]
