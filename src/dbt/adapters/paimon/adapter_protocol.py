"""What the features ask of the adapter: the project, the catalog and statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from dbt.adapters.paimon.spark.table_name import TableName

if TYPE_CHECKING:
    import agate

    from dbt.adapters.paimon.capabilities import Versions
    from dbt.adapters.paimon.column import PaimonColumn
    from dbt.adapters.paimon.credentials import PaimonCredentials
    from dbt.adapters.paimon.errors.deprecations import OnceARun
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spark.handles import Handle


def is_empty_run() -> bool:
    """Whether dbt runs with `--empty`: tables are built without rows."""
    from dbt.flags import get_flags

    return bool(getattr(get_flags(), "EMPTY", False))


def sample_of_run() -> tuple[Any, Any] | None:
    """Start and end of the run's `--sample`; None without it."""
    from dbt.flags import get_flags

    sample = getattr(get_flags(), "SAMPLE", None)
    return None if sample is None else (sample.start, sample.end)


def table_name(relation: PaimonRelation) -> TableName:
    """A relation's name for a handle."""
    return TableName(*relation.parts)


class AdapterProtocol(Protocol):
    """The adapter, as its features see it."""

    config: Any
    connections: Any

    @property
    def credentials(self) -> PaimonCredentials:
        """The active target."""

    @property
    def versions(self) -> Versions:
        """The versions and the catalog kind."""

    @property
    def view_catalog(self) -> str:
        """The catalog that stores views."""

    @property
    def handle(self) -> Handle:
        """This thread's connection."""

    @property
    def once(self) -> OnceARun:
        """Which warnings this run has given."""

    @property
    def warn_ignored_config(self) -> Callable[[str], None] | None:
        """Warns about config that nothing reads; None if it is refused."""

    @property
    def warn_lossy_cast(self) -> Callable[[str], None] | None:
        """Warns about values that a cast changes; None if they are refused."""

    @property
    def warn_history_loss(self) -> Callable[[str], None] | None:
        """Warns about history lost with a replaced table; None if that is refused."""

    @property
    def warn_inexact_merge(self) -> Callable[[str], None] | None:
        """Warns about aggregations with wrong values for some changes; None if new tables with them are refused."""

    @property
    def sizes_buckets(self) -> bool:
        """Whether `bucket: auto` is the default of tables with a primary key."""

    def query(self, sql: str) -> list[Any]:
        """Run a statement and return its rows."""

    def query_columns(self, sql: str) -> tuple[PaimonColumn, ...]:
        """The columns of a query, which is analyzed but not run."""

    def names_suggested(self) -> AbstractContextManager[None]:
        """Adds similar names to the error of a table that is not found."""

    def convert_type(self, agate_table: agate.Table, col_idx: int) -> str | None:
        """The SQL type of a column of an agate table."""

    def get_macro_resolver(self) -> Any:
        """dbt's manifest."""

    def get_incremental_strategy_macro(self, context: Mapping[str, Any], strategy: str) -> Any:
        """The macro `get_incremental_<strategy>_sql`, as dbt finds it."""

    def has_catalog(self, name: str | None) -> bool:
        """Whether Spark has a catalog."""

    def list_schemas(self, database: str) -> list[str]:
        """The schemas of a catalog."""

    def list_relations(self, database: str | None, schema: str) -> Sequence[Any]:
        """The relations of a schema, from dbt's cache if it has them."""

    def list_relations_without_caching(self, schema_relation: PaimonRelation) -> list[PaimonRelation]:
        """The relations of a schema, as the catalog has them now."""

    def get_relation(
        self, database: str | None, schema: str | None, identifier: str | None
    ) -> PaimonRelation | None:
        """A relation by its name, from dbt's cache."""

    def get_columns_in_relation(self, relation: PaimonRelation) -> list[PaimonColumn]:
        """The columns of a table or view."""

    def cache_added(self, relation: Any) -> str:
        """Add a relation to dbt's cache."""

    def drop_relation(self, relation: PaimonRelation) -> None:
        """Drop a relation, also from dbt's cache."""

    def drop_schema(self, relation: PaimonRelation) -> None:
        """Drop a schema, also from dbt's cache."""

    def rename_relation(self, from_relation: PaimonRelation, to_relation: PaimonRelation) -> None:
        """Rename a table, also in dbt's cache."""

    def cache_dropped(self, relation: Any) -> str:
        """Remove a relation from dbt's cache."""
