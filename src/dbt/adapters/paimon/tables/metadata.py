"""Metadata of tables, views and schemas: the SQL that reads it, and typed results. Nothing here runs a statement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import clocks
from dbt.adapters.paimon.sql.data_types import is_nullable, kept_type, to_spark_type
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable

_NOT_FOUND = (
    "SCHEMA_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
    "NoSuchNamespaceException",
    "NoSuchDatabaseException",
    "NoSuchTableException",
)
# HiveCatalog.listTablesImpl of 0.9 opens each table that it lists, which another process may have renamed meanwhile.
GONE_MEANWHILE = "Can not get table"


def is_not_found(exc: Exception) -> bool:
    """Whether Spark reports that a table or a schema does not exist."""
    return any(sign in str(exc) for sign in _NOT_FOUND)


def schemas_sql(relation: PaimonRelation, earlier: bool = False) -> str:
    """A query for a table's current schema: one row. With `earlier`, for all its schemas, in any order."""
    newest = "" if earlier else " order by schema_id desc limit 1"
    return (
        "select fields, partition_keys, primary_keys, options, comment, schema_id "
        f"from {relation.system_table('schemas')}{newest}"
    )


def newest_first(schemas: Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
    """The rows of `schemas_sql`, the current schema first."""
    return sorted(schemas, key=lambda row: -int(row[5]))


def existing_table(row: Sequence[Any]) -> ExistingTable:
    """The table that a row of `schemas_sql` describes."""
    fields, partition_keys, primary_keys, options, comment, *more = row
    return ExistingTable(
        primary_key=tuple(json.loads(primary_keys)),
        partition_by=tuple(json.loads(partition_keys)),
        options=json.loads(options),
        columns=tuple(
            ExistingColumn(
                name=field["name"],
                data_type=to_spark_type(field["type"]),
                nullable=is_nullable(field["type"]),
                comment=field.get("description") or "",
                kept_type=kept_type(field["type"]),
            )
            for field in json.loads(fields)
        ),
        comment=comment or "",
        schema_id=int(more[0]) if more else None,
    )


def table_of_schema(text: str) -> ExistingTable:
    """The table of a schema in Paimon's JSON (see `EmbeddedSpark.schema`)."""
    content = json.loads(text)
    lists = (json.dumps(content[part]) for part in ("fields", "partitionKeys", "primaryKeys", "options"))
    return existing_table([*lists, content.get("comment"), content["id"]])


def older_types(schemas: Sequence[Sequence[Any]]) -> dict[int, dict[str, str]]:
    """Schema id -> {current column name: Spark type text in that schema}, where the type was another one."""
    now, *earlier = ({int(each["id"]): each for each in json.loads(row[0])} for row in schemas)
    found = {}
    for fields, row in zip(earlier, schemas[1:], strict=True):
        types = {key: to_spark_type(field["type"]) for key, field in fields.items() if key in now}
        changed = {
            field["name"]: types[key]
            for key, field in now.items()
            if key in types and types[key] != to_spark_type(field["type"])
        }
        if changed:
            found[int(row[5])] = changed
    return found


def then_called(schemas: Iterable[Sequence[Any]], then: int, now: int) -> dict[str, str]:
    """Current column name in lower case -> its name in another schema; without columns that did not exist then.

    A column keeps its id for ever, and ids are not reused.

    Args:
        schemas: rows of `$schemas`: schema_id, fields.
        then, now: ids of the two schemas.
    """
    ids = {int(row[0]): {int(field["id"]): field["name"] for field in json.loads(row[1])} for row in schemas}
    return {name.lower(): ids[then][key] for key, name in ids[now].items() if key in ids[then]}


def named_types(fields: str) -> list[tuple[int, str, str]]:
    """(id, name, type) of each column in the `fields` of a row of `$schemas`."""
    return [(int(field["id"]), field["name"], json.dumps(field["type"])) for field in json.loads(fields)]


def ends_columns(name: str, data_type: str) -> bool:
    """Whether a row of DESCRIBE TABLE is not a column but a heading, such as `# Partition Information`."""
    return not name or not data_type


def comments(rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """The comments of columns, by column name, from the rows of DESCRIBE TABLE."""
    found: dict[str, str] = {}
    for name, data_type, comment, *_ in rows:
        if ends_columns(name, data_type):
            break
        if comment:
            found[name] = comment
    return found


def last_modified_sql(relations: Sequence[PaimonRelation]) -> str:
    """One statement for the last change of each table's rows, from `$snapshots`: it opens no data file.

    Compaction and statistics also commit but do not change rows. If no other commit is left, the oldest of them counts,
    which came after the last change.
    """
    changed = "max(case when commit_kind in ('APPEND', 'OVERWRITE') then commit_time end)"
    return "\nunion all\n".join(
        f"select {string_literal(relation.schema or '')} as schema, "
        f"{string_literal(relation.identifier or '')} as identifier,\n"
        f"  {clocks.in_utc(f'coalesce({changed}, min(commit_time))')} as last_modified,\n"
        f"  {clocks.now_in_utc()} as snapshotted_at\n"
        f"from {relation.system_table('snapshots')}"
        for relation in relations
    )


def loaded_at_sql(expression: str) -> str:
    """SQL for a source's `loaded_at_field` in UTC, as dbt reads it (BaseAdapter, `_utc`).

    A TIMESTAMP_NTZ is not converted: dbt documents that such a time is in UTC.
    """
    return (
        f"if(typeof({expression}) = 'timestamp_ntz', cast({expression} as timestamp_ntz), "
        f"{clocks.utc(f'cast({expression} as timestamp)')})"
    )


def no_last_change(source: Any) -> str:
    """The error for a source whose last change cannot be read from metadata."""
    return (
        f"{source} is not an existing Paimon table, so its last change is unknown without reading it. "
        "Set `loaded_at_field` or `loaded_at_query`."
    )
