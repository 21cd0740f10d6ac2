"""Views for catalogs that cannot store them.

Paimon's filesystem catalog has no views in any version. Spark's session catalog has views that can read Paimon tables,
but an embedded Spark loses them when the process ends, and a Derby metastore allows only one process at a time. So a
view's definition is stored as a property of the table `_dbt_views` in its schema; Paimon sets a property atomically. A
session creates the view in the view catalog before it runs a statement that mentions the view.

Spark stores the session's settings, such as its time zone, in a view when the view is created. So a definition stores
the settings that the view's node had changed. A view that is created again gets these settings, not its reader's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from threading import RLock
from typing import Final

from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.state.kinds import Kind, NewerStateError
from dbt.adapters.paimon.state.tables import refuse_newer_table

logger = AdapterLogger("Paimon")

REGISTRY_TABLE = "_dbt_views"
PROPERTY_PREFIX = "dbt.view."

# The settings that Spark does not store in a view (ViewHelper.shouldCaptureConfig).
_NOT_IN_VIEWS: Final = tuple(f"spark.sql.{each}." for each in "adaptive codegen execution optimizer shuffle".split())

# Of the others, the settings that only change how fast a query is.
_SPEEDS: Final = "autoBroadcastJoinThreshold broadcastTimeout files. join. cbo. statistics. inMemoryColumnarStorage."
_SAME_ROWS: Final = tuple(f"spark.sql.{each}" for each in _SPEEDS.split())

Run = Callable[[str], Iterable[tuple[str, str]]]
# A block in which the session has its own settings and those of a view (see `Handle.view_settings`).
Settings = Callable[[Mapping[str, str | None]], AbstractContextManager[None]]


@dataclass(frozen=True)
class ViewDefinition:
    """Everything needed to recreate a view.

    `settings` are those that the view's node had changed when the view was created (see `stored_settings`).
    """

    schema: str
    identifier: str
    query: str
    comment: str = ""
    column_comments: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    settings: Mapping[str, str | None] = field(default_factory=dict)

    def to_property(self) -> str:
        """The JSON that is stored in the registry table."""
        content = {name: value for name, value in vars(self).items() if name not in ("schema", "identifier")}
        return json.dumps(content, sort_keys=True)

    @classmethod
    def from_property(cls, schema: str, identifier: str, value: str) -> ViewDefinition:
        """Parse the value of `to_property`; unknown keys from a newer version are ignored."""
        content = json.loads(value)
        comments, columns = content.get("column_comments", {}), tuple(content.get("columns", ()))
        settings = content.get("settings", {})
        return cls(schema, identifier, content["query"], content.get("comment", ""), comments, columns, settings)


def stored_settings(changed: Mapping[str, str | None]) -> dict[str, str | None]:
    """The settings in `changed` (those that a node has changed) that Spark stores in a view; None means unset."""
    return {
        key: value
        for key, value in changed.items()
        if key.startswith("spark.sql.") and not key.startswith(_NOT_IN_VIEWS)
    }


def row_settings(changed: Mapping[str, str | None]) -> list[str]:
    """The names of those `stored_settings` that may change a view's rows."""
    return [key for key in stored_settings(changed) if not key.startswith(_SAME_ROWS)]


def registry_sql(catalog: str, schema: str) -> str:
    """The statement that reads a schema's registry: rows of (name, value).

    In SHOW TBLPROPERTIES, Spark would redact values that look like secrets, such as a query with the word `token`.
    """
    return f"select key, value from {quoted(catalog, schema, REGISTRY_TABLE + '$options')}"


def definitions_from_properties(schema: str, properties: Mapping[str, str]) -> list[ViewDefinition]:
    """The views of a schema, from the rows of `registry_sql`; raises NewerStateError if a newer adapter wrote them."""
    refuse_newer_table(Kind.VIEWS, properties, f"{schema}.{REGISTRY_TABLE}")
    return [
        ViewDefinition.from_property(schema, name[len(PROPERTY_PREFIX) :], value)
        for name, value in properties.items()
        if name.startswith(PROPERTY_PREFIX)
    ]


class ViewDirectory:
    """The known views of each schema, and which of them exist in this process's Spark.

    There is one per process, because all sessions of a JVM share Spark's session catalog.
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
        """Set the catalog whose views are in `view_catalog`; a new `origin` (warehouse) clears the directory."""
        with self._lock:
            if (catalog, view_catalog, origin) != (self._catalog, self._view_catalog, self._origin):
                self._known.clear()
                self._listed.clear()
                self._created.clear()
            self._catalog, self._view_catalog, self._origin = catalog, view_catalog, origin

    @property
    def needed(self) -> bool:
        """Whether views are in a different catalog than tables, so that this directory is needed."""
        return self._view_catalog != self._catalog

    def home_of_new(self, database: str | None) -> str:
        """The catalog for a new view of a model with this `database`."""
        return self._view_catalog if self.needed and database == self._catalog else database or ""

    def home_of(
        self, database: str | None, schema: str | None, identifier: str | None, type: RelationType | None
    ) -> str | None:
        """The catalog with which a relation's name is rendered.

        A model configured as a view (`type`) may still exist as a table until it runs. It counts as a table if its
        schema was listed without this view.
        """
        if database != self._catalog or not self.needed or not schema or not identifier:
            return database
        if (schema, identifier) in self._known:
            return self._view_catalog
        return self._view_catalog if type == RelationType.View and schema not in self._listed else database

    def replace_schema(self, schema: str, definitions: Iterable[ViewDefinition]) -> None:
        """Replace the known views of a schema with the result of a listing."""
        with self._lock:
            self._listed.add(schema)
            for key in [key for key in self._known if key[0] == schema]:
                del self._known[key]
            for definition in definitions:
                self._known[(schema, definition.identifier)] = definition

    def get(self, schema: str, identifier: str) -> ViewDefinition | None:
        return self._known.get((schema, identifier))

    def remember(self, definition: ViewDefinition) -> None:
        """Add a view that was just created in Spark."""
        with self._lock:
            key = (definition.schema, definition.identifier)
            self._known[key] = self._created[key] = definition

    def forget(self, schema: str, identifier: str) -> None:
        """Remove a view that was dropped."""
        with self._lock:
            self._known.pop((schema, identifier), None)
            self._created.pop((schema, identifier), None)

    def create_mentioned(self, sql: str, run: Run, settings: Settings) -> None:
        """Create in Spark the views that a statement may read, in the order of their dependencies.

        A view counts as mentioned if its identifier occurs in the statement; an unnecessary view only costs time.
        Errors are ignored, because only statements that read a broken view should fail.

        Raises:
            NewerStateError: a newer adapter wrote the views of a schema that the statement mentions.
        """
        if not self.needed:
            return
        with self._lock:
            self._create_mentioned(sql, run, settings, frozenset())

    def list_schemas(self, schemas: Iterable[str], run: Run) -> None:
        """Read which views these schemas have, so that their names are rendered with the right catalog."""
        with self._lock:
            for schema in schemas:
                self._list(schema, run)

    def create_all(self, schemas: Iterable[str], run: Run, settings: Settings) -> None:
        """Create in Spark the views of these schemas, as they are now stored (see `create_mentioned`)."""
        if not self.needed:
            return
        with self._lock:
            self.list_schemas(schemas, run)
            names = " ".join(identifier for _, identifier in self._known)
            self._create_mentioned(names, run, settings, frozenset())

    def _create_mentioned(self, sql: str, run: Run, settings: Settings, above: frozenset[tuple[str, str]]) -> None:
        for schema in self._schemas_mentioned(sql) - self._listed:
            self._list(schema, run)
        for key, definition in list(self._known.items()):
            if key in above or self._created.get(key) == definition or key[1] not in sql:
                continue
            self._create_mentioned(definition.query, run, settings, above | {key})
            # Do not suppress an error when the block ends, or the user's statement would run with the view's settings.
            with ExitStack() as block:
                try:
                    block.enter_context(settings(definition.settings))
                    run(f"create database if not exists {quoted(self._view_catalog, key[0])}")
                    run(create_view_sql(quoted(self._view_catalog, *key), definition))
                    self._created[key] = definition
                except Exception as exc:  # noqa: BLE001 - from Spark, py4j, gRPC or Thrift
                    logger.debug(f"The view {'.'.join(key)} cannot be created in this session: {exc}")

    def _list(self, schema: str, run: Run) -> None:
        self._listed.add(schema)
        try:
            rows = run(registry_sql(self._catalog, schema))
            self.replace_schema(schema, definitions_from_properties(schema, dict(rows)))
        except NewerStateError:
            self._listed.discard(schema)
            raise
        except Exception:  # noqa: BLE001 - from Spark, py4j, gRPC or Thrift
            return

    def _schemas_mentioned(self, sql: str) -> set[str]:
        pattern = re.compile(rf"`{re.escape(self._view_catalog)}`\.`((?:[^`]|``)+)`\.")
        return {found.replace("``", "`") for found in pattern.findall(sql)}


def create_view_sql(name: str, definition: ViewDefinition) -> str:
    """The `CREATE OR REPLACE VIEW` statement for a definition; `name` is already rendered."""
    columns, query = "", definition.query
    if definition.columns:
        # Spark and Paimon match the columns by position, but those of `select *` may have another order now.
        query = f"select {', '.join(map(quoted, definition.columns))} from (\n{query}\n)"
    if definition.column_comments:
        columns = f" ({', '.join(_commented(column, definition) for column in definition.columns)})"
    comment = f" comment {string_literal(definition.comment)}" if definition.comment else ""
    return f"create or replace view {name}{columns}{comment} as\n{query}"


def _commented(column: str, definition: ViewDefinition) -> str:
    comment = definition.column_comments.get(column)
    return f"{quoted(column)} comment {string_literal(comment)}" if comment else quoted(column)


DIRECTORY = ViewDirectory()
