"""Builds the catalog entries of `dbt docs generate`: columns, comments and statistics. Runs no statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata

from dbt.adapters.paimon.metadata.overviews import Overview
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.table import DEFAULT_MERGE_ENGINE


def from_overview(table: PaimonRelation, overview: Overview) -> CatalogTable:
    """The entry of a Paimon table."""
    schema = overview.schema
    rows = "# Rows before merging" if schema.primary_keys else "# Rows"
    stats = (
        _stat("rows", rows, overview.rows, "Rows in the data files of the newest table snapshot, before merging"),
        _stat("bytes", "Size", overview.bytes, "Bytes in the data files of the newest table snapshot"),
        _stat("files", "# Files", overview.files, "Data files of the newest table snapshot"),
        _stat("last_modified", "Last commit", overview.committed, "When the newest table snapshot was committed (UTC)"),
        *_layout(schema),
    )
    columns = [(field.name, field.spark_type, field.comment) for field in schema.fields]
    return describe(table, columns, schema.comment, schema.options.get("owner"), stats)


def _layout(schema: Schema) -> Iterable[StatsItem]:
    """The table's layout under the names of config keys, without unset ones."""
    primary_key, options = schema.primary_keys, schema.options
    dynamic = "dynamic" if primary_key else None
    buckets = {"-1": dynamic, "-2": "postpone"}.get(options.get("bucket", "-1"), options.get("bucket"))
    engine = options.get("merge-engine", DEFAULT_MERGE_ENGINE) if primary_key else None
    producer = options.get("changelog-producer")
    found = (
        ("primary_key", "Primary key", ", ".join(primary_key), "The table has one row per key"),
        ("partition_by", "Partitioned by", ", ".join(schema.partition_keys), "Partition columns"),
        ("bucket", "Buckets", buckets, "Buckets of the table, or of each partition"),
        ("bucket_key", "Bucket key", options.get("bucket-key"), "Columns that decide the bucket of a row"),
        ("merge_engine", "Merge engine", engine, "How rows with the same key are merged"),
        ("sequence_field", "Sequence field", options.get("sequence.field"), "Columns that order the rows of a key"),
        ("changelog_producer", "Changelog producer", producer, "How changes are recorded for readers"),
    )
    return (_stat(name, label, value, description) for name, label, value, description in found if value)


def describe(
    relation: PaimonRelation,
    columns: Iterable[tuple[str, str, str | None]],
    comment: str | None = None,
    owner: str | None = None,
    stats: Iterable[StatsItem] = (),
) -> CatalogTable:
    """An entry of dbt's catalog; `columns` are (name, Spark type, comment) in order."""
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
            f"table_{part}": getattr(table.metadata, part)
            for part in ("database", "schema", "name", "type", "comment", "owner")
        }
        | {f"column_{part}": getattr(column, part) for part in ("name", "index", "type", "comment")}
        | {
            f"stats:{stat.id}:{part}": getattr(stat, part)
            for stat in table.stats.values()
            if stat.id != "has_stats"
            for part in ("label", "value", "description", "include")
        }
        for table in tables
        for column in table.columns.values()
    ]
