"""Reads a table's metadata from its system tables with two statements: on servers, and for tables of many files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.maintenance.health import small_below
from dbt.adapters.paimon.sql import clocks
from dbt.adapters.paimon.tables import metadata
from dbt_paimon.report.facts import Facts, FileGroup, TableSnapshot, partition_name

if TYPE_CHECKING:
    from dbt.adapters.paimon.relation import PaimonRelation

_FILES, _SNAPSHOTS, _TAGS, _CONSUMERS = "files", "snapshots", "tags", "consumers"
_STATEMENTS: Final = 2


def read(query: Callable[[str], Sequence[Any]], table: PaimonRelation) -> Facts:
    """A table's facts; `query` runs a statement and returns its rows."""
    (schema,) = query(metadata.schemas_sql(table))
    existing = metadata.existing_table(schema)
    types = {column.name: column.data_type for column in existing.columns}
    now = time.time()
    found: dict[str, list[list[Any]]] = {_FILES: [], _SNAPSHOTS: [], _TAGS: [], _CONSUMERS: []}
    for what, row in query(_sql(table, small_below(existing.options, bool(existing.primary_key)))):
        found[what].append(json.loads(row))
    return Facts(
        primary_key=existing.primary_key,
        partition_by=existing.partition_by,
        options=existing.options,
        comment=existing.comment,
        groups=tuple(
            FileGroup(partition_name(row[0] or "", existing.partition_by, types), *map(int, row[1:]))
            for row in sorted(found[_FILES], key=lambda row: (row[0] or "", int(row[1]), int(row[2])))
        ),
        snapshots=tuple(
            _snapshot(row, now) for row in sorted(found[_SNAPSHOTS], key=lambda row: int(row[0]))
        ),
        tags={row[0]: int(row[1]) for row in found[_TAGS]},
        consumers={row[0]: int(row[1]) for row in found[_CONSUMERS]},
        statements=_STATEMENTS,
    )


def _sql(table: PaimonRelation, small: float) -> str:
    """One statement for all system tables; its rows are a table's name and a JSON array of texts."""
    parts = (
        (
            _FILES,
            (
                *("partition", "bucket", "level", "count(*)"),
                f"sum(case when file_size_in_bytes < {small:.1f} then 1 else 0 end)",
                *("sum(record_count)", "sum(file_size_in_bytes)"),
            ),
            " group by partition, bucket, level",
        ),
        (
            _SNAPSHOTS,
            (
                *("snapshot_id", "commit_kind", "commit_user", clocks.age_in_seconds("commit_time")),
                *("total_record_count", "delta_record_count", "changelog_record_count"),
            ),
            "",
        ),
        (_TAGS, ("tag_name", "snapshot_id"), ""),
        (_CONSUMERS, ("consumer_id", "next_snapshot_id"), ""),
    )
    return "\nunion all\n".join(
        f"select '{name}' as what, to_json(array({', '.join(f'cast({each} as string)' for each in columns)})) as row "
        f"from {table.system_table(name)}{then}"
        for name, columns, then in parts
    )


def _snapshot(row: Sequence[Any], now: float) -> TableSnapshot:
    number, kind, user, age, *counts = row
    rows = (None if count is None else int(count) for count in counts)
    return TableSnapshot(int(number), kind, user, now - float(age), *rows)
