"""The current and earlier schemas of a table: columns, keys and options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.metadata.table_name import Query, Table
from dbt.adapters.paimon.sql import clocks
from dbt.adapters.paimon.sql.data_types import to_spark_type
from dbt.adapters.paimon.sql.text import string_literal

# The columns that `Schema.of_row` reads.
COLUMNS: Final = "schema_id, fields, partition_keys, primary_keys, options, comment"


@dataclass(frozen=True)
class Field:
    """A column. Its id never changes and is never reused; `data_type` is Paimon's, as JSON."""

    id: int
    name: str
    data_type: str | dict[str, Any]
    comment: str

    @property
    def spark_type(self) -> str:
        return to_spark_type(self.data_type)


@dataclass(frozen=True)
class Schema:
    """One version of a table's schema."""

    id: int
    fields: tuple[Field, ...]
    partition_keys: tuple[str, ...]
    primary_keys: tuple[str, ...]
    options: Mapping[str, str]
    comment: str

    @property
    def type_names(self) -> dict[str, str]:
        """Column name -> Paimon's type in lower case, without NOT NULL."""
        return {each.name: str(each.data_type).split(" NOT NULL")[0].lower() for each in self.fields}

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Schema:
        """Parse a row of COLUMNS of `$schemas`."""
        number, *parts, comment = row
        return cls._of(int(number), [json.loads(part) for part in parts], comment)

    @classmethod
    def of_json(cls, text: str) -> Schema:
        """Parse Paimon's JSON of a schema."""
        content = json.loads(text)
        parts = [content[part] for part in ("fields", "partitionKeys", "primaryKeys", "options")]
        return cls._of(content["id"], parts, content.get("comment"))

    @classmethod
    def _of(cls, number: int, parts: Sequence[Any], comment: str | None) -> Schema:
        fields, partition_keys, primary_keys, options = parts
        columns = (Field(int(each["id"]), each["name"], each["type"], each.get("description") or "") for each in fields)
        return cls(number, tuple(columns), tuple(partition_keys), tuple(primary_keys), options, comment or "")


def current_sql(table: Table) -> str:
    """A query for COLUMNS of a table's newest schema: at most one row."""
    return f"{_select(table)} order by schema_id desc limit 1"


def newest_first(query: Query, table: Table) -> tuple[Schema, ...]:
    """All schemas of a table, the current one first."""
    return tuple(sorted(map(Schema.of_row, query(_select(table))), key=lambda schema: -schema.id))


def of_snapshot(query: Query, table: Table, number: int | str) -> Schema:
    """The schema with which a table snapshot was written."""
    return _of_version(query, table, "snapshots", f"snapshot_id = {number}")


def of_tag(query: Query, table: Table, name: str) -> Schema:
    """The schema with which the table snapshot of a tag was written."""
    return _of_version(query, table, "tags", f"tag_name = {string_literal(name)}")


def _of_version(query: Query, table: Table, versions: str, which: str) -> Schema:
    number = f"select schema_id from {table.system_table(versions)} where {which}"
    (row,) = query(f"{_select(table)} where schema_id = ({number})")
    return Schema.of_row(row)


def _select(table: Table) -> str:
    return f"select {COLUMNS} from {table.system_table('schemas')}"


def identity(query: Query, table: Table) -> tuple[str, int]:
    """The time when a table was created (a string, in UTC), and the id of its newest schema."""
    made = clocks.in_utc("min(update_time)")
    ((text, newest),) = query(f"select cast({made} as string), max(schema_id) from {table.system_table('schemas')}")
    return str(text), int(newest)


def older_types(schemas: Sequence[Schema]) -> dict[int, dict[str, str]]:
    """Schema id -> {current column name: Spark type in that schema}, for types that have changed since.

    `schemas` are all schemas of the table, the current one first.
    """
    current, *earlier = schemas
    now = {field.id: field for field in current.fields}
    found = {}
    for schema in earlier:
        changed = {
            now[field.id].name: field.spark_type
            for field in schema.fields
            if field.id in now and field.spark_type != now[field.id].spark_type
        }
        if changed:
            found[schema.id] = changed
    return found


def changed_structs(schemas: Sequence[Schema], then: int, now: int) -> list[str]:
    """The columns that are or contain a struct, and have another type in the schema `then` than in `now` (ids)."""
    types = {schema.id: {field.id: field.spark_type for field in schema.fields} for schema in schemas}
    names = {field.id: field.name for schema in schemas if schema.id == now for field in schema.fields}
    return [
        name
        for key, name in names.items()
        if (old := types[then].get(key)) is not None and "struct<" in old and old != types[now][key]
    ]


def then_called(schemas: Sequence[Schema], then: int, now: int) -> dict[str, str]:
    """Column name in the schema `now`, in lower case -> its name in the schema `then`, if it existed in both.

    `then` and `now` are schema ids.
    """
    names = {schema.id: {field.id: field.name for field in schema.fields} for schema in schemas}
    return {name.lower(): names[then][key] for key, name in names[now].items() if key in names[then]}
