"""Finds the config key that a user wrote for a Paimon option, for messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbt.adapters.paimon.spec.components import COMPONENTS

if TYPE_CHECKING:
    from dbt.adapters.paimon.spec.table import TableSpec


class ConfigOrigin:
    """Finds the config key and value that the user wrote for a Paimon option."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._written: dict[str, tuple[str, Any]] = {}
        given = {key: value for key, value in config.items() if value is not None}
        for component in COMPONENTS:
            for key, option in component.options.items():
                if key in given:
                    self._written[option] = (key, given[key])
            for group, (keys, _) in component.groups.items():
                for key, value in _mapping(given.get(group)).items():
                    if key in keys and value is not None:
                        self._written[keys[key].option] = (f"{group}.{key}", value)
        for option, value in _mapping(given.get("tblproperties")).items():
            self._written.setdefault(str(option), (f"tblproperties['{option}']", value))

    def find(self, name: str, spec: TableSpec) -> tuple[str, Any]:
        """The key and value to show for an option, 'primary_key' or 'partition_by'."""
        if name == "primary_key":
            return name, list(spec.primary_key)
        if name == "partition_by":
            return name, list(spec.partition_by)
        if name in self._written:
            return self._written[name]
        key = name.replace("-", "_") if name.startswith("fields.") else name
        return key, spec.options.get(name)


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
