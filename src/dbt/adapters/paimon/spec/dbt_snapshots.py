"""Snapshots: dbt's strategies, and the table that a snapshot needs."""

from __future__ import annotations

from typing import Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.build import collect_table_spec
from dbt.adapters.paimon.spec.declared import Declared
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.strategies import MERGEABLE, hidden_fault
from dbt.adapters.paimon.spec.table import TableSpec

# dbt's strategies for snapshots; a project may define more.
SNAPSHOT_STRATEGIES: Final = ("check", "timestamp")


def collect_snapshot_spec(declared: Declared, versions: Versions, problems: Problems) -> TableSpec:
    """The table of a dbt snapshot, to which later runs add rows by MERGE. Only valid if `problems` stays empty."""
    spec = collect_table_spec(declared, versions, problems)
    if spec.merge_engine not in MERGEABLE:
        problems.add("merge_engine", spec.merge_engine, "Paimon has no MERGE for it, which a snapshot needs. Remove it")
    if hidden := hidden_fault(spec):
        problems.add("materialized", "snapshot", f"{hidden}. Remove that option")
    return spec
