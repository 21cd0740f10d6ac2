"""Interprets how Spark and Paimon describe tables, views and schemas. Runs no statement."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.sql.data_types import is_nullable, kept_type
from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable

_NOT_FOUND = (
    "SCHEMA_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
    "NoSuchNamespaceException",
    "NoSuchDatabaseException",
    "NoSuchTableException",
)


def is_not_found(exc: Exception) -> bool:
    """Whether Spark reports that a table or a schema does not exist."""
    return any(sign in str(exc) for sign in _NOT_FOUND)


def is_not_empty(exc: Exception) -> bool:
    """Whether a schema was not dropped because it is not empty (from Spark, Hive or Paimon)."""
    return any(sign in str(exc) for sign in ("SCHEMA_NOT_EMPTY", "is not empty", "non-empty"))


def existing_table(schema: Schema) -> ExistingTable:
    """The table that a schema describes."""
    return ExistingTable(
        primary_key=schema.primary_keys,
        partition_by=schema.partition_keys,
        options=schema.options,
        columns=tuple(
            ExistingColumn(
                name=field.name,
                data_type=field.spark_type,
                nullable=is_nullable(field.data_type),
                comment=field.comment,
                kept_type=kept_type(field.data_type),
            )
            for field in schema.fields
        ),
        comment=schema.comment,
        schema_id=schema.id,
    )


def columns_of(described: Iterable[Any]) -> Iterable[Any]:
    """The rows of DESCRIBE TABLE that describe columns: name, type and comment."""
    # They end at a heading such as `# Partition Information`, which has no type.
    return takewhile(lambda row: row[0] and row[1], described)


def comments(described: Iterable[Any]) -> dict[str, str]:
    """The column comments, by column name, from the rows of DESCRIBE TABLE."""
    return {name: comment for name, _, comment, *_ in columns_of(described) if comment}


def no_last_change(source: Any) -> str:
    """The error message for a source whose last change cannot be read from metadata."""
    return (
        f"{source} is not an existing Paimon table, so its metadata has no time of the last change. If it is "
        "another table or a view, set `loaded_at_field` or `loaded_at_query`. If it is a Kafka or file source, remove "
        "`freshness`: there is no table to query."
    )
