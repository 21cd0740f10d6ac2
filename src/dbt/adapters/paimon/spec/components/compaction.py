"""When Paimon compacts as it writes, and a first load (see `maintenance` for compaction after runs)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.keys import BOOLEAN, key_field
from dbt.adapters.paimon.spec.component import Component, Found, Types
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import DYNAMIC_BUCKET, TableSpec


@dataclass
class Keys:
    """The config key."""

    compact_after_build: bool | str | None = key_field(
        None,
        "Whether a large first load of an incremental model is also compacted",
        BOOLEAN,
        default="`true`",
        page="maintenance.md#a-first-load",
    )


def after_build(config: Mapping[str, Any], problems: Problems) -> bool:
    """Whether a large first load is also compacted."""
    value = config.get("compact_after_build")
    if value is not None and str(value).lower() not in ("true", "false"):
        problems.add("compact_after_build", value, "true or false is needed. Write it without quotes")
    return str(value).lower() != "false"


def _delta_commit_rules(spec: TableSpec, versions: Versions) -> Found:
    unaware = spec.bucket == DYNAMIC_BUCKET and not spec.primary_key and not spec.auto_buckets
    if unaware and "full-compaction.delta-commits" in spec.options:
        yield (
            "full-compaction.delta-commits",
            "needs buckets on a table without primary key. Set bucket, or remove it",
        )


def _append_table_options(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # AppendOnlyFileStoreWrite and the coordinators of append tables; MergeTreeWriter reads neither.
    for name in ("compaction.min.file-num", "compaction.max.file-num"):
        if name in spec.options and spec.primary_key:
            yield (
                name,
                "only tables without primary key read it, so it does nothing here. Set "
                "num-sorted-run.compaction-trigger, or remove it",
            )


def _differs_by_version(spec: TableSpec, types: Types, versions: Versions) -> Found:
    name = "full-compaction.delta-commits"
    if name in spec.options and (missing := versions.explain(Capability.FULL_COMPACTION_ON_WRITE)):
        yield name, f"does nothing here: {missing}"
    name = "compaction.optimization-interval"
    if name in spec.options and (missing := versions.explain(Capability.COMPACTION_INTERVAL_ACROSS_RUNS)):
        yield name, f"makes every run end with a full compaction: {missing}"


COMPONENT: Final = Component(
    keys=Keys, rules=(_delta_commit_rules,), advice=(_append_table_options, _differs_by_version)
)
