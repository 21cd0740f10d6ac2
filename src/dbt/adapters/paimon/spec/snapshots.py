"""Snapshots: dbt's strategies, and the table that a snapshot needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.build import collect_table_spec
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.strategies import MERGEABLE, hidden_fault
from dbt.adapters.paimon.spec.table import TableSpec

# dbt's strategies for snapshots; a project may define more.
SNAPSHOT_STRATEGIES: Final = ("check", "timestamp")


def snapshot_spec(config: Mapping[str, Any], *, model: str, versions: Versions, **contract: Any) -> TableSpec:
    """The table of a snapshot, to which each later run adds rows by MERGE; raises ConfigErrors with all problems.

    `contract` has the other arguments of `build_table_spec`.
    """
    problems = Problems(model, warn=contract.pop("warn", None))
    spec = collect_table_spec(config, problems=problems, versions=versions, **contract)
    if spec.merge_engine not in MERGEABLE:
        problems.add("merge_engine", spec.merge_engine, "Paimon has no MERGE for it, which a snapshot needs. Remove it")
    if hidden := hidden_fault(spec):
        problems.add("materialized", "snapshot", f"{hidden}. Remove that option")
    problems.raise_if_any()
    return spec
