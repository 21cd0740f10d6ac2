"""What the catalog knows: SQL that asks it, and typed answers. Nothing here runs a statement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.data_types import is_nullable, kept_type, to_spark_type
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable

NOT_FOUND = (
    "SCHEMA_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
    "NoSuchNamespaceException",
    "NoSuchDatabaseException",
    "NoSuchTableException",
)
# HiveCatalog.listTablesImpl of 0.9 looks at each table of its list, and another process may have renamed one by then.
GONE_MEANWHILE = "Can not get table"

_JVM_ZONE = "java_method('java.lang.System', 'getProperty', 'user.timezone')"


def list_tables_sql(schema: PaimonRelation) -> str:
    """One statement for all tables of a schema."""
    return f"show tables in {schema.include(identifier=False).render()}"


def list_views_sql(schema: PaimonRelation) -> str:
    """One statement for all views of a schema, in a catalog that has views."""
    return f"show views in {schema.include(identifier=False).render()}"


def schemas_sql(relation: PaimonRelation) -> str:
    """The current schema of a table, from its system table `$schemas`: one row."""
    return (
        "select fields, partition_keys, primary_keys, options, comment "
        f"from {relation.system_table('schemas')} order by schema_id desc limit 1"
    )


def existing_table(row: Sequence[Any]) -> ExistingTable:
    """Read a row of `schemas_sql`.

    Returns:
        The table as it is: keys, options and columns (Spark's type text, nullability, comment).
    """
    fields, partition_keys, primary_keys, options, comment = row
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
    )


def then_called(schemas: Iterable[Sequence[Any]], then: int, now: int) -> dict[str, str]:
    """What columns were called in another schema of their table.

    A column keeps its id for good, and no other one gets it.

    Args:
        schemas: rows of `$schemas`: schema_id, fields.
        then, now: ids of the two schemas.

    Returns:
        By the name that a column has now, in small letters, the one that it had then; without those there were not.
    """
    ids = {int(row[0]): {int(field["id"]): field["name"] for field in json.loads(row[1])} for row in schemas}
    return {name.lower(): ids[then][key] for key, name in ids[now].items() if key in ids[then]}


def comments(rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """The comments of columns, by name, from the rows of DESCRIBE TABLE."""
    found: dict[str, str] = {}
    for name, _, comment, *_ in rows:
        if not name or name.startswith("# "):
            break
        if comment:
            found[name] = comment
    return found


def last_modified_sql(relations: Sequence[PaimonRelation]) -> str:
    """One statement for the last change of each table's rows, read from `$snapshots`: no data file is opened.

    Compaction and statistics commit too, and change no row: they count only where nothing else is left, and then the
    oldest of them, which came after the change.
    """
    changed = "max(case when commit_kind in ('APPEND', 'OVERWRITE') then commit_time end)"
    return "\nunion all\n".join(
        f"select {string_literal(relation.schema or '')} as schema, "
        f"{string_literal(relation.identifier or '')} as identifier,\n"
        f"  {in_utc(f'coalesce({changed}, min(commit_time))')} as last_modified,\n"
        "  to_utc_timestamp(current_timestamp(), current_timezone()) as snapshotted_at\n"
        f"from {relation.system_table('snapshots')}"
        for relation in relations
    )


def in_utc(commit_time: str) -> str:
    """SQL that turns a `commit_time` of `$snapshots` into UTC.

    Paimon shows it on the wall clock of the JVM, whatever the session's time zone (SnapshotsTable.toRow).
    """
    return f"to_utc_timestamp({commit_time}, {_JVM_ZONE})"


def wall_clock() -> str:
    """SQL of the time now as `commit_time` of `$snapshots` and `creation_time` of `$files` tell it."""
    return f"from_utc_timestamp(to_utc_timestamp(current_timestamp(), current_timezone()), {_JVM_ZONE})"


def age_in_seconds(commit_time: str) -> str:
    """SQL of how long ago a `commit_time` of `$snapshots`, or a `creation_time` of `$files`, was."""
    now = "to_utc_timestamp(current_timestamp(), current_timezone())"
    return f"(unix_timestamp({now}) - unix_timestamp({in_utc(commit_time)}))"
