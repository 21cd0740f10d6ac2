"""The part of the adapter that its features use: project, catalog and statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.sql import procedures

if TYPE_CHECKING:
    import agate

    from dbt.adapters.paimon.capabilities import Versions
    from dbt.adapters.paimon.column import PaimonColumn
    from dbt.adapters.paimon.credentials import PaimonCredentials
    from dbt.adapters.paimon.errors.warnings import OnceARun
    from dbt.adapters.paimon.flag_warnings import ChangingDefaults
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spark.handles import Handle
    from dbt.adapters.paimon.spark.runtime import Runtime


# A node of the manifest, as macros pass it.
Node: TypeAlias = Mapping[str, Any]


def table_name(relation: PaimonRelation) -> TableName:
    """The name by which handles identify a relation."""
    return TableName(*relation.parts)


def call_procedure(
    adapter: AdapterProtocol, procedure: str, relation: PaimonRelation, arguments: Mapping[str, Any]
) -> None:
    """Run a Paimon procedure on a table; raises DbtRuntimeError with all problems of its arguments."""
    call = procedures.statement(procedure, relation.parts, arguments, adapter.versions)
    adapter.connections.execute(call)


class AdapterProtocol(Protocol):
    """The adapter as its features see it; `PaimonAdapter` and dbt's base class document the methods."""

    config: Any
    connections: Any
    once: OnceARun
    defaults: ChangingDefaults

    @property
    def credentials(self) -> PaimonCredentials: ...

    @property
    def runtime(self) -> Runtime: ...

    @property
    def versions(self) -> Versions: ...

    @property
    def view_catalog(self) -> str: ...

    @property
    def handle(self) -> Handle: ...

    def query(self, sql: str) -> list[Any]: ...

    def query_columns(self, sql: str) -> tuple[PaimonColumn, ...]: ...

    def names_suggested(self) -> AbstractContextManager[None]: ...

    def convert_type(self, agate_table: agate.Table, col_idx: int) -> str | None: ...

    def get_macro_resolver(self) -> Any: ...

    def get_incremental_strategy_macro(self, context: Mapping[str, Any], strategy: str) -> Any: ...

    def has_catalog(self, name: str | None) -> bool: ...

    def list_schemas(self, database: str) -> list[str]: ...

    def list_relations(self, database: str | None, schema: str) -> Sequence[Any]: ...

    def list_relations_without_caching(self, schema_relation: PaimonRelation) -> list[PaimonRelation]: ...

    def get_relation(
        self, database: str | None, schema: str | None, identifier: str | None
    ) -> PaimonRelation | None: ...

    def get_columns_in_relation(self, relation: PaimonRelation) -> list[PaimonColumn]: ...

    def cache_added(self, relation: Any) -> str: ...

    def drop_relation(self, relation: PaimonRelation) -> None: ...

    def drop_schema(self, relation: PaimonRelation) -> None: ...

    def rename_relation(self, from_relation: PaimonRelation, to_relation: PaimonRelation) -> None: ...

    def cache_dropped(self, relation: Any) -> str: ...
