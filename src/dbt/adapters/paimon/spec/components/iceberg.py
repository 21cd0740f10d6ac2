"""`iceberg: true`: Paimon writes Iceberg metadata with each commit, for Iceberg's readers.

For a table with a primary key, the metadata lists only files of the last full compaction
(IcebergCommitCallback.shouldAddFileToIceberg, 1.4). Source: https://paimon.apache.org/docs/1.4/iceberg/overview/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.config_keys import BOOLEAN
from dbt.adapters.paimon.spec import config_values
from dbt.adapters.paimon.spec.component import Component, Found, config_key
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET, TableSpec

KEY: Final = "iceberg"
STORAGE: Final = "metadata.iceberg.storage"
_TABLE_LOCATION: Final = "table-location"
# With 1, each of Spark's writes ends with a full compaction from 1.4 on (DataWrite.needFullCompaction).
_COMPACTS: Final = "full-compaction.delta-commits"
_OFF: Final = "disabled"
# Paimon 0.9's option for Iceberg's metadata.
_OLD: Final = "metadata.iceberg-compatible"


@dataclass
class Keys:
    """The config key."""

    iceberg: bool | str | None = config_key(
        "Whether Iceberg's readers can read the table, too; from Paimon 1.4 on",
        BOOLEAN,
        default="`false`",
        option=STORAGE,
        page="iceberg.md",
    )


def read(config: Mapping[str, Any], options: dict[str, str], problems: Problems) -> None:
    """Add the option for `iceberg: true`, or a problem for a value that is neither true nor false."""
    if not config_values.is_on(config, KEY, problems):
        return
    if options.setdefault(STORAGE, _TABLE_LOCATION) == _OFF:
        problems.add(KEY, config[KEY], f"contradicts '{STORAGE}'='{_OFF}'. Keep one of the two")


def is_on(spec: TableSpec) -> bool:
    """Whether the table has Iceberg metadata."""
    return spec.options.get(STORAGE, _OFF).lower() != _OFF


def with_compaction(spec: TableSpec) -> TableSpec:
    """The table, with a full compaction in each write if it has a primary key and its config sets no compaction."""
    chosen = spec.maintenance is not None and spec.maintenance.compact is not None
    if not is_on(spec) or not spec.primary_key or chosen or _COMPACTS in spec.options:
        return spec
    if spec.is_true("write-only") or spec.options.get("changelog-producer") == "lookup":
        return spec
    return replace(spec, options={**spec.options, _COMPACTS: "1"})


def _rules(spec: TableSpec, versions: Versions) -> Found:
    if spec.is_true(_OLD):
        yield (
            _OLD,
            "its files have no field ids, so that Iceberg's readers find no columns, and commits of timestamps, small "
            f"integers and nested types fail halfway. Remove it; {versions.explain(Capability.ICEBERG_METADATA)}",
        )
    if not is_on(spec):
        return
    if missing := versions.explain(Capability.ICEBERG_METADATA):
        yield STORAGE, missing
        return
    if spec.file_format != "parquet":
        yield STORAGE, f"Iceberg's readers are only known to read parquet, not {spec.file_format}. Use parquet"
    if spec.wap:
        yield STORAGE, "a branch's commits would write the table's metadata. Remove iceberg, or wap"
    if spec.bucket == POSTPONE_BUCKET:
        yield STORAGE, "rows of postpone buckets have no level yet. Use another bucket, or remove iceberg"


COMPONENT: Final = Component(keys=Keys, values={KEY: lambda value, key, problems: None}, rules=(_rules,))
