"""The Spark catalogs that exist: those in the profile and in catalogs.yml, and those that only Spark knows."""

from __future__ import annotations

from dbt.adapters.paimon import catalogs_yml
from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.sql.text import quoted

# SET returns this for an unset setting (org.apache.spark.sql.execution.command.SetCommand).
_UNSET = "<undefined>"


class KnownCatalogs:
    """The Spark catalogs of a target."""

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter
        # Catalog name -> whether Spark has it, for names that the profile lacks.
        self._asked: dict[str, bool] = {}

    def has(self, name: str | None) -> bool:
        """Whether Spark has a catalog. Asks Spark once per name that is in neither the profile nor catalogs.yml."""
        if not name or name in catalogs_yml.known(self._adapter.credentials):
            return True
        if name not in self._asked:
            (answer,) = self._adapter.query(f"set {quoted(f'spark.sql.catalog.{name}')}")
            self._asked[name] = answer[1] != _UNSET
        return self._asked[name]

    def has_as_far_as_known(self, name: str) -> bool:
        """Like `has`, but does not ask Spark if this thread has no connection (while dbt parses)."""
        if self._adapter.connections.get_if_exists() is None:
            return name in catalogs_yml.known(self._adapter.credentials)
        return self.has(name)

    def names(self) -> frozenset[str]:
        """The names of the catalogs that are known to exist."""
        found = (name for name, exists in self._asked.items() if exists)
        return catalogs_yml.known(self._adapter.credentials) | frozenset(found)
