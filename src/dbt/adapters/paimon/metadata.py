"""What the catalog knows: SQL that asks it, and typed answers. Nothing here runs a statement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from dbt.adapters.paimon.changeset import ExistingColumn, ExistingTable
from dbt.adapters.paimon.data_types import is_nullable, to_spark_type
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql_text import string_literal

NOT_FOUND = (
    "SCHEMA_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
    "NoSuchNamespaceException",
    "NoSuchDatabaseException",
    "NoSuchTableException",
)
# One statement asks for this many tables: Spark's parser and planner slow down on wider unions.
TABLES_A_STATEMENT = 40


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
            )
            for field in json.loads(fields)
        ),
        comment=comment or "",
    )


def catalog_sql(relations: Sequence[PaimonRelation]) -> Iterable[str]:
    """Statements that give name, fields, comment, owner, rows and bytes of tables, many tables in each.

    Rows and bytes come from `$files` (what a reader of the newest snapshot opens), the last commit from `$snapshots`.
    """
    for start in range(0, len(relations), TABLES_A_STATEMENT):
        yield "\nunion all\n".join(_catalog_part(r) for r in relations[start : start + TABLES_A_STATEMENT])


def _catalog_part(relation: PaimonRelation) -> str:
    name = string_literal(relation.identifier or "")
    return (
        f"select {name} as name, s.fields, s.comment, s.options, "
        "f.row_count, f.byte_count, f.file_count, c.commit_time\n"
        f"from (select * from {relation.system_table('schemas')} order by schema_id desc limit 1) as s\n"
        "cross join (select coalesce(sum(record_count), 0) as row_count, "
        "coalesce(sum(file_size_in_bytes), 0) as byte_count,\n"
        f"  count(*) as file_count from {relation.system_table('files')}) as f\n"
        f"cross join (select max(commit_time) as commit_time from {relation.system_table('snapshots')}) as c"
    )


def catalog_rows(schema: PaimonRelation, row: Sequence[Any]) -> list[dict[str, Any]]:
    """The rows of dbt's docs catalog for one row of `catalog_sql`: one for each column of the table."""
    name, fields, comment, options, row_count, byte_count, file_count, commit_time = row
    owner = json.loads(options).get("owner", "")
    stats: list[tuple[str, str, Any, str]] = [
        ("rows", "# Rows", row_count, "Rows in the data files of the newest table snapshot, before merging"),
        ("bytes", "Size", byte_count, "Bytes in the data files of the newest table snapshot"),
        ("files", "# Files", file_count, "Data files of the newest table snapshot"),
        (
            "last_modified",
            "Last commit",
            str(commit_time or ""),
            "When the newest table snapshot was committed",
        ),
    ]
    common: dict[str, Any] = {
        "table_database": schema.database,
        "table_schema": schema.schema,
        "table_name": name,
        "table_type": "table",
        "table_comment": comment or "",
        "table_owner": owner,
    }
    for key, label, value, description in stats:
        common[f"stats:{key}:label"] = label
        common[f"stats:{key}:value"] = value
        common[f"stats:{key}:description"] = description
        common[f"stats:{key}:include"] = True
    return [
        common
        | {
            "column_name": field["name"],
            "column_index": index,
            "column_type": to_spark_type(field["type"]),
            "column_comment": field.get("description") or "",
        }
        for index, field in enumerate(json.loads(fields))
    ]
