"""The interface of the adapter that the sources of a stream use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from dbt.adapters.paimon.capabilities import Environment
    from dbt.adapters.paimon.credentials import PaimonCredentials
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spark.handles import Handle
    from dbt.adapters.paimon.tables.changeset import ExistingTable


class Lookup(Protocol):
    """What sources use of the adapter: the project, the catalog, and statements."""

    config: Any

    @property
    def credentials(self) -> PaimonCredentials: ...

    @property
    def environment(self) -> Environment: ...

    @property
    def _handle(self) -> Handle: ...

    def query(self, sql: str) -> list[Any]: ...

    def get_relation(
        self, database: str | None, schema: str | None, identifier: str | None
    ) -> PaimonRelation | None: ...

    def existing_table(self, relation: PaimonRelation) -> ExistingTable: ...

    def _incremental_catalog(self) -> str: ...
