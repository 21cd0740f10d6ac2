"""Spark catalogs by name: those that a target has, and what to say of one that it has not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt.adapters.catalogs import DbtCatalogIntegrationNotFoundError
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon import catalogs
from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.sql_text import quoted

if TYPE_CHECKING:
    from dbt.adapters.catalogs import CatalogIntegration, CatalogV2

# What SET answers for a setting that nobody made (org.apache.spark.sql.execution.command.SetCommand).
_UNSET = "<undefined>"


class CatalogMethods(AvailableMethods):
    """Methods that know a catalog's name; dbt's are overridden so that an unknown one ends its own node only."""

    # Whether Spark has the catalogs that the profile does not name.
    _asked_catalogs: dict[str, bool]
    # What models call those of catalogs.yml.
    _catalog_names: list[str]

    @available.parse(lambda *a, **k: True)
    def has_catalog(self, name: str | None) -> bool:
        """Whether Spark has a catalog; one that neither the profile nor catalogs.yml names is asked for once."""
        if not name or name in catalogs.known(self.credentials):
            return True
        if name not in self._asked_catalogs:
            (answer,) = self.query(f"set {quoted(f'spark.sql.catalog.{name}')}")
            self._asked_catalogs[name] = answer[1] != _UNSET
        return self._asked_catalogs[name]

    def list_schemas(self, database: str) -> list[str]:
        """The schemas of a catalog; none of an unknown one, which dbt lists before any node runs."""
        if not self.has_catalog(database.removeprefix("`").removesuffix("`").replace("``", "`")):
            return []
        schemas: list[str] = super().list_schemas(database)
        return schemas

    @available
    def get_catalog_integration(self, name: str) -> CatalogIntegration:
        """The catalog of catalogs.yml that a node's `catalog_name` means.

        Raises:
            CompilationError: there is none of that name, and which there are.
        """
        try:
            found: CatalogIntegration = super().get_catalog_integration(name)
        except DbtCatalogIntegrationNotFoundError:
            raise CompilationError(catalogs.unknown_integration(name, self._catalog_names)) from None
        return found

    # dbt-core's catalogs.yml of version 2 (flag use_catalogs_v2) comes in by these.

    def _v2_table_format(self, catalog: CatalogV2) -> str:
        """`default` is Paimon; any other one is refused by the integration."""
        return catalogs.v2_table_format(catalog)

    def _translate_v2_properties(self, catalog_type: str, props: dict[str, Any]) -> dict[str, Any]:
        """The options of the catalog, as version 1 has them."""
        return props
