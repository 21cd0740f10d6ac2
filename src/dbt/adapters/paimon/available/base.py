"""The base class of the mixins: what they use of the adapter that they are mixed into."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import AdapterMeta

if TYPE_CHECKING:
    from pathlib import Path

    from dbt.adapters.spark.impl import SparkAdapter as Adapter

    from dbt.adapters.paimon.capabilities import Environment
    from dbt.adapters.paimon.concurrency.locks import TableLocks
    from dbt.adapters.paimon.credentials import PaimonCredentials
    from dbt.adapters.paimon.errors.deprecations import OnceARun
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spark.handles import Handle
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.tables.changeset import ExistingTable
    from dbt.adapters.paimon.writing.model_query import ModelQuery
else:
    Adapter = object


class AvailableMethods(Adapter, metaclass=AdapterMeta):
    """Base of the mixins; dbt's metaclass collects the methods that they mark as `available`."""

    if TYPE_CHECKING:

        def __init__(self, config: Any, mp_context: Any) -> None: ...

        @property
        def credentials(self) -> PaimonCredentials: ...

        @property
        def environment(self) -> Environment: ...

        _table_locks: TableLocks

        _told: OnceARun

        @property
        def _passes(self) -> Callable[[str], None] | None: ...

        def query(self, sql: str) -> list[Any]: ...

        def list_relations_without_caching(  # type: ignore[override]
            self, schema_relation: PaimonRelation
        ) -> list[PaimonRelation]: ...

        def get_relation(
            self, database: str | None, schema: str | None, identifier: str | None
        ) -> PaimonRelation | None: ...

        @property
        def _handle(self) -> Handle: ...

        def check_node(self, model: Mapping[str, Any]) -> None: ...

        def advise(
            self, model: Mapping[str, Any], spec: TableSpec, types: Mapping[str, str] = ...
        ) -> None: ...

        def change_rows_sql(
            self, source: ModelQuery, spec: TableSpec, model: Mapping[str, Any]
        ) -> str | None: ...

        def existing_table(self, relation: PaimonRelation) -> ExistingTable: ...

        def release_tables(self) -> None: ...

        def _incremental_catalog(self) -> str: ...

        def _lock_folder(self, relation: PaimonRelation) -> Path | None: ...

        def hold_table(self, relation: PaimonRelation) -> None: ...

        def _alone(self, relation: PaimonRelation) -> AbstractContextManager[None]: ...

        def procedure_call(
            self, name: str, relation: PaimonRelation, arguments: Mapping[str, Any]
        ) -> str: ...

        def table_spec(
            self, model: Mapping[str, Any], default_primary_key: Sequence[str] = ()
        ) -> TableSpec: ...
