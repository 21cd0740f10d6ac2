"""Finds the config key that a user wrote for a Paimon option, for use in messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbt.adapters.paimon.options.table_options import split_field_option
from dbt.adapters.paimon.spec.components import GROUPED_KEYS, OPTION_KEYS
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec


class ConfigOrigin:
    """Finds the config key and value that the user wrote for a Paimon option."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._written: dict[str, tuple[str, Any]] = {}
        for key, option in OPTION_KEYS.items():
            if config.get(key) is not None:
                self._written[option] = (key, config[key])
        for group, (keys, _) in GROUPED_KEYS.items():
            for key, value in _mapping(config.get(group)).items():
                if key in keys and value is not None:
                    self._written[keys[key].option] = (f"{group}.{key}", value)
        for option, value in _mapping(config.get("tblproperties")).items():
            self._written.setdefault(str(option), (f"tblproperties['{option}']", value))

    def report(self, problems: Problems, spec: TableSpec, found: Iterable[tuple[str, str]]) -> None:
        """Add a problem for each (option, reason) pair."""
        for name, reason in found:
            problems.add(*self.find(name, spec), reason)

    def find(self, name: str, spec: TableSpec) -> tuple[str, Any]:
        """The key and value to show for an option, 'primary_key' or 'partition_by'."""
        if name == "primary_key":
            return name, list(spec.primary_key)
        if name == "partition_by":
            return name, list(spec.partition_by)
        if name in self._written:
            return self._written[name]
        key = name
        if field := split_field_option(name):
            columns, attribute = field
            key = f"fields.{','.join(columns)}.{attribute.replace('-', '_')}"
        return key, spec.options.get(name)


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
