"""The entries of `dbt docs generate`: columns, comments and statistics from system tables. Runs no statement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.table import DEFAULT_MERGE_ENGINE
from dbt.adapters.paimon.sql import clocks
from dbt.adapters.paimon.sql.data_types import to_spark_type

# Number of tables per statement: Spark's parser and planner are slow with wider unions.
TABLES_A_STATEMENT = 40


def tables_sql(tables: Sequence[PaimonRelation]) -> str:
    """The statement whose rows `from_row` reads; each begins with the table's position in `tables`.

    Rows and bytes are those of `$files`: the files that a reader of the newest table snapshot opens.
    """
    return "\nunion all\n".join(_table_sql(position, table) for position, table in enumerate(tables))


def _table_sql(position: int, table: PaimonRelation) -> str:
    return (
        f"select {position} as position, s.fields, s.primary_keys, s.partition_keys, s.comment, s.options, "
        "f.row_count, f.byte_count, f.file_count, c.commit_time\n"
        f"from (select * from {table.system_table('schemas')} order by schema_id desc limit 1) as s\n"
        "cross join (select coalesce(sum(record_count), 0) as row_count, "
        "coalesce(sum(file_size_in_bytes), 0) as byte_count,\n"
        f"  count(*) as file_count from {table.system_table('files')}) as f\n"
        f"cross join (select {clocks.as_seconds(clocks.in_utc('max(commit_time)'))} as commit_time\n"
        f"  from {table.system_table('snapshots')}) as c"
    )


def from_row(table: PaimonRelation, row: Sequence[Any]) -> CatalogTable:
    """A table, from its row of `tables_sql`."""
    _, fields, key, partition, comment, written, row_count, byte_count, file_count, commit_time = row
    columns = [
        (field["name"], to_spark_type(field["type"]), field.get("description"))
        for field in json.loads(fields)
    ]
    options = json.loads(written)
    primary_key, partition_by = json.loads(key), json.loads(partition)
    stats = (
        _stat(
            "rows",
            "# Rows before merging" if primary_key else "# Rows",
            row_count,
            "Rows in the data files of the newest table snapshot, before merging",
        ),
        _stat("bytes", "Size", byte_count, "Bytes in the data files of the newest table snapshot"),
        _stat("files", "# Files", file_count, "Data files of the newest table snapshot"),
        _stat(
            "last_modified", "Last commit", commit_time, "When the newest table snapshot was committed (UTC)"
        ),
        *_layout(primary_key, partition_by, options),
    )
    return describe(table, columns, comment, options.get("owner"), stats)


def _layout(
    primary_key: Sequence[str], partition_by: Sequence[str], options: Mapping[str, str]
) -> Iterable[StatsItem]:
    """The table's layout, in the names of a model's config; what it does not have is left out."""
    dynamic = "dynamic" if primary_key else None
    buckets = {"-1": dynamic, "-2": "postpone"}.get(options.get("bucket", "-1"), options.get("bucket"))
    found = (
        ("primary_key", "Primary key", ", ".join(primary_key), "One row a key"),
        ("partition_by", "Partitioned by", ", ".join(partition_by), "Columns of the partitions"),
        ("bucket", "Buckets", buckets, "Buckets of the table, or of each partition"),
        ("bucket_key", "Bucket key", options.get("bucket-key"), "Columns that decide the bucket of a row"),
        (
            "merge_engine",
            "Merge engine",
            options.get("merge-engine", DEFAULT_MERGE_ENGINE) if primary_key else None,
            "What becomes of rows with the same key",
        ),
        (
            "sequence_field",
            "Sequence field",
            options.get("sequence.field"),
            "Which row of a key is the newest",
        ),
        (
            "changelog_producer",
            "Changelog producer",
            options.get("changelog-producer"),
            "How changes are recorded for readers",
        ),
    )
    return (_stat(name, label, value, says) for name, label, value, says in found if value)


def describe(
    relation: PaimonRelation,
    columns: Iterable[tuple[str, str, str | None]],
    comment: str | None = None,
    owner: str | None = None,
    stats: Iterable[StatsItem] = (),
) -> CatalogTable:
    """An entry of dbt's catalog; `columns` are name, Spark type text and comment, in order."""
    named = {stat.id: stat for stat in stats}
    has_stats = StatsItem(
        "has_stats", "Has Stats?", bool(named), False, "Indicates whether there are statistics for this table"
    )
    return CatalogTable(
        metadata=TableMetadata(
            type=str(relation.type or "table"),
            schema=relation.schema or "",
            name=relation.identifier or "",
            database=relation.database,
            comment=comment or None,
            owner=owner or None,
        ),
        columns={
            name: ColumnMetadata(type=data_type, index=index, name=name, comment=note or None)
            for index, (name, data_type, note) in enumerate(columns, start=1)
        },
        stats={"has_stats": has_stats, **named},
    )


def _stat(key: str, label: str, value: Any, description: str) -> StatsItem:
    return StatsItem(key, label, value, value is not None, description)


def flat_rows(tables: Iterable[CatalogTable]) -> list[Mapping[str, Any]]:
    """The rows from which dbt-core builds `catalog.json`: one for each column of each table."""
    return [
        {
            "table_database": table.metadata.database,
            "table_schema": table.metadata.schema,
            "table_name": table.metadata.name,
            "table_type": table.metadata.type,
            "table_comment": table.metadata.comment,
            "table_owner": table.metadata.owner,
            "column_name": column.name,
            "column_index": column.index,
            "column_type": column.type,
            "column_comment": column.comment,
        }
        | {
            f"stats:{stat.id}:{part}": getattr(stat, part)
            for stat in table.stats.values()
            if stat.id != "has_stats"
            for part in ("label", "value", "description", "include")
        }
        for table in tables
        for column in table.columns.values()
    ]
