"""Methods on `adapter` for catalogs: those of the profile, of catalogs.yml and of the Spark session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt.adapters.catalogs import DbtCatalogIntegrationNotFoundError
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.paimon import catalogs_yml
from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.tables import missing

if TYPE_CHECKING:
    from dbt.adapters.catalogs import CatalogIntegration, CatalogRelation, CatalogV2
    from dbt.adapters.contracts.relation import RelationConfig

# What SET returns for a setting that is not set (org.apache.spark.sql.execution.command.SetCommand).
_UNSET = "<undefined>"


class CatalogMethods(AvailableMethods):
    """Catalog lookups; dbt's methods are overridden so that an unknown catalog fails only the node that names it."""

    # Whether Spark has a catalog that the profile does not name, by name.
    _asked_catalogs: dict[str, bool]
    # The name that models use -> the catalog of catalogs.yml.
    _catalog_names: list[str]

    @available.parse(lambda *a, **k: True)
    def has_catalog(self, name: str | None) -> bool:
        """Whether Spark has a catalog; asks Spark once about one that neither the profile nor catalogs.yml names."""
        if not name or name in catalogs_yml.known(self.credentials):
            return True
        if name not in self._asked_catalogs:
            (answer,) = self.query(f"set {quoted(f'spark.sql.catalog.{name}')}")
            self._asked_catalogs[name] = answer[1] != _UNSET
        return self._asked_catalogs[name]

    def list_schemas(self, database: str) -> list[str]:
        """The schemas of a catalog; empty for an unknown catalog, which dbt lists before any node runs."""
        if not self.has_catalog(database.removeprefix("`").removesuffix("`").replace("``", "`")):
            return []
        schemas: list[str] = super().list_schemas(database)
        return schemas

    @available
    def get_catalog_integration(self, name: str) -> CatalogIntegration:
        """The catalog of catalogs.yml that a node names in `catalog_name`.

        Raises:
            CompilationError: there is no catalog of that name; lists those there are.
        """
        try:
            found: CatalogIntegration = super().get_catalog_integration(name)
        except DbtCatalogIntegrationNotFoundError:
            raise CompilationError(catalogs_yml.unknown_integration(name, self._catalog_names)) from None
        return found

    @available
    def build_catalog_relation(self, config: RelationConfig) -> CatalogRelation | None:
        """The database, schema and table format of a node with a `catalog_name`.

        Raises:
            CompilationError: see `get_catalog_integration`; dbt names no node when it calls this.
        """
        try:
            relation: CatalogRelation | None = super().build_catalog_relation(config)
        except CompilationError as exc:
            kind = getattr(config, "resource_type", None) or "model"
            exc.msg = f"{kind} '{getattr(config, 'name', '')}': {exc.msg}"
            raise
        return relation

    @contextmanager
    def _names_suggested(self) -> Iterator[None]:
        """Wraps a statement of a node: if a table is not found, the error suggests tables that exist."""
        try:
            yield
        except DbtRuntimeError as exc:
            parts = missing.table_in(exc.msg)
            if parts and (advice := self._advice_on(parts)):
                exc.msg = f"{exc.msg}\n{advice}"
            raise

    def _advice_on(self, parts: Sequence[str]) -> str:
        node = (self.connections.get_thread_connection().name or "").rpartition(".")[2]
        asked = [name for name, there in self._asked_catalogs.items() if there]
        try:
            if len(parts) > 2 and self.has_catalog(parts[0]):
                asked.append(parts[0])
            known = sorted({*asked, *catalogs_yml.known(self.credentials)})
            return missing.advice(parts, node, known, self._schema_names, self._table_or_view_names)
        except DbtRuntimeError:
            # The statement's own error is the one to report.
            return ""

    def _schema_names(self, catalog: str) -> list[str]:
        return [row[0] for row in self.query(f"show databases in {quoted(catalog)}")]

    def _table_or_view_names(self, catalog: str, schema: str) -> list[str]:
        found: list[Any] = self.list_relations(catalog, schema)
        return [relation.identifier for relation in found]

    # dbt-core calls these for a catalogs.yml of version 2 (flag use_catalogs_v2).

    def _v2_table_format(self, catalog: CatalogV2) -> str:
        """Maps `default` to Paimon; any other format is refused by the integration."""
        return catalogs_yml.v2_table_format(catalog)

    def _translate_v2_properties(self, catalog_type: str, props: dict[str, Any]) -> dict[str, Any]:
        """The catalog's options in the form of version 1."""
        return {name: value for name, value in props.items() if name != "catalog_database"}
