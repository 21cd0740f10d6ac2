"""Views over catalogs that cannot hold them.

A Paimon filesystem catalog has no views at any version. Spark's session catalog has, and a view in it may read Paimon
tables; but an embedded session catalog forgets them when the process ends, and a Derby metastore would let one process
in at a time. So the definition of a view is kept with the tables, as a property of the table `_dbt_views` of its schema
(one atomic schema commit of Paimon, whatever the storage), and a session that meets the view's name creates it in the
view catalog first. Restarts, other machines and concurrent runs see the same views.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import RLock

from dbt.adapters.contracts.relation import RelationType

from dbt.adapters.paimon.sql.text import quoted, string_literal

REGISTRY_TABLE = "_dbt_views"
PROPERTY_PREFIX = "dbt.view."

Run = Callable[[str], Iterable[tuple[str, str]]]


@dataclass(frozen=True)
class ViewDefinition:
    """What it takes to create a view again: the query, and the comments of the view and of its columns."""

    schema: str
    identifier: str
    query: str
    comment: str = ""
    column_comments: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def to_property(self) -> str:
        """The value kept in the registry table (JSON text)."""
        content = {
            "query": self.query,
            "comment": self.comment,
            "columns": list(self.columns),
            "column_comments": dict(self.column_comments),
        }
        return json.dumps(content, sort_keys=True)

    @classmethod
    def from_property(cls, schema: str, identifier: str, value: str) -> ViewDefinition:
        """Read back `to_property`; unknown keys of a newer version are left alone."""
        content = json.loads(value)
        return cls(
            schema,
            identifier,
            content["query"],
            content.get("comment", ""),
            content.get("column_comments", {}),
            tuple(content.get("columns", ())),
        )


def registry_sql(catalog: str, schema: str) -> str:
    """The statement that reads a schema's registry: rows of (name, value).

    Not SHOW TBLPROPERTIES: Spark redacts there what looks like a secret to it, a query with the word `token` in it too.
    """
    return f"select key, value from {quoted(catalog, schema, REGISTRY_TABLE + '$options')}"


def definitions_from_properties(schema: str, rows: Iterable[tuple[str, str]]) -> list[ViewDefinition]:
    """The views of a schema out of the rows of `registry_sql`."""
    return [
        ViewDefinition.from_property(schema, name[len(PROPERTY_PREFIX) :], value)
        for name, value in rows
        if name.startswith(PROPERTY_PREFIX)
    ]


class ViewDirectory:
    """Which names are views, where they live, and which of them this process's Spark already has.

    One for the process, because Spark's session catalog is shared by all sessions of a JVM.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._catalog = ""
        self._view_catalog = ""
        self._origin: object = None
        self._known: dict[tuple[str, str], ViewDefinition] = {}
        self._listed: set[str] = set()
        self._created: dict[tuple[str, str], ViewDefinition] = {}

    def configure(self, catalog: str, view_catalog: str, origin: object) -> None:
        """Say which catalog's views live in which; `origin` (warehouse) changing forgets everything known."""
        with self._lock:
            if (catalog, view_catalog, origin) != (self._catalog, self._view_catalog, self._origin):
                self._known.clear()
                self._listed.clear()
                self._created.clear()
            self._catalog, self._view_catalog, self._origin = catalog, view_catalog, origin

    @property
    def needed(self) -> bool:
        """Whether views live elsewhere than tables, so that this directory has work to do."""
        return self._view_catalog != self._catalog

    def home_of_new(self, database: str | None) -> str:
        """The catalog that a view goes to, whose model says `database`."""
        return self._view_catalog if self.needed and database == self._catalog else database or ""

    def home_of(
        self, database: str | None, schema: str | None, identifier: str | None, type: RelationType | None
    ) -> str | None:
        """The catalog that a relation's name is rendered with.

        A model that is configured as a view (`type`) may still be a table, until it runs: a listing of its schema that
        found no such view decides.
        """
        if database != self._catalog or not self.needed or not schema or not identifier:
            return database
        if (schema, identifier) in self._known:
            return self._view_catalog
        return self._view_catalog if type == RelationType.View and schema not in self._listed else database

    def replace_schema(self, schema: str, definitions: Iterable[ViewDefinition]) -> None:
        """Take what a listing of the schema found as the whole truth about it."""
        with self._lock:
            self._listed.add(schema)
            for key in [key for key in self._known if key[0] == schema]:
                del self._known[key]
            for definition in definitions:
                self._known[(schema, definition.identifier)] = definition

    def in_schema(self, schema: str) -> list[ViewDefinition]:
        """The known views of a schema."""
        return [definition for key, definition in self._known.items() if key[0] == schema]

    def get(self, schema: str, identifier: str) -> ViewDefinition | None:
        """The definition of one view, if it is known."""
        return self._known.get((schema, identifier))

    def remember(self, definition: ViewDefinition) -> None:
        """A view was just created in Spark."""
        with self._lock:
            key = (definition.schema, definition.identifier)
            self._known[key] = self._created[key] = definition

    def forget(self, schema: str, identifier: str) -> None:
        """A view was dropped."""
        with self._lock:
            self._known.pop((schema, identifier), None)
            self._created.pop((schema, identifier), None)

    def create_mentioned(self, sql: str, run: Run) -> None:
        """Create, in Spark, the views that a statement may read, their own inputs first.

        Args:
            sql: the statement; a view counts as mentioned when its identifier stands anywhere in it, because a
                superset costs a little time and a miss would fail the statement.
            run: runs one statement and gives its rows. Its errors are swallowed here: a broken view must not fail
                a statement that does not read it, and one that does fails with Spark's own message.
        """
        if not self.needed:
            return
        with self._lock:
            self._create_mentioned(sql, run, frozenset())

    def _create_mentioned(self, sql: str, run: Run, above: frozenset[tuple[str, str]]) -> None:
        for schema in self._schemas_mentioned(sql) - self._listed:
            with suppress(Exception):
                self._listed.add(schema)
                rows = run(registry_sql(self._catalog, schema))
                self.replace_schema(schema, definitions_from_properties(schema, rows))
        for key, definition in list(self._known.items()):
            if key in above or self._created.get(key) == definition or key[1] not in sql:
                continue
            self._create_mentioned(definition.query, run, above | {key})
            with suppress(Exception):
                run(f"create database if not exists {quoted(self._view_catalog, key[0])}")
                run(create_view_sql(quoted(self._view_catalog, *key), definition))
                self._created[key] = definition

    def _schemas_mentioned(self, sql: str) -> set[str]:
        pattern = re.compile(rf"`{re.escape(self._view_catalog)}`\.`((?:[^`]|``)+)`\.")
        return {found.replace("``", "`") for found in pattern.findall(sql)}


def create_view_sql(name: str, definition: ViewDefinition) -> str:
    """`CREATE OR REPLACE VIEW` for a definition; `name` is rendered already."""
    columns = ""
    if definition.column_comments and definition.columns:
        columns = f" ({', '.join(_commented(column, definition) for column in definition.columns)})"
    comment = f" comment {string_literal(definition.comment)}" if definition.comment else ""
    return f"create or replace view {name}{columns}{comment} as\n{definition.query}"


def _commented(column: str, definition: ViewDefinition) -> str:
    comment = definition.column_comments.get(column)
    return f"{quoted(column)} comment {string_literal(comment)}" if comment else quoted(column)


DIRECTORY = ViewDirectory()
