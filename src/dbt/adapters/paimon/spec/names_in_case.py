"""Finds nodes whose schemas or tables have names that differ only in case.

Paimon tells `Tab` from `tab` on a file system that does. dbt's cache does not (`reference_keys._make_ref_key`), and it
creates one of two such schemas (`GraphRunnableTask.create_schemas`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

_STORED: Final = ("model", "seed", "snapshot")
_Name = tuple[str, ...]


class NamesInCase:
    """The schemas and tables of a project by their names in lower case.

    Args:
        nodes: the nodes of dbt's manifest.
    """

    def __init__(self, nodes: Iterable[Any]) -> None:
        self._named: dict[_Name, dict[_Name, str]] = {}
        for node in nodes:
            if node.resource_type in _STORED and node.config.materialized != "ephemeral":
                for name in _names(node.database, node.schema, node.alias):
                    self._named.setdefault(_lower(name), {}).setdefault(name, f"{node.resource_type} '{node.name}'")

    def problem(self, node: Mapping[str, Any]) -> str:
        """Why a node cannot be built under its name, and the remedy; empty if it can."""
        for key, name in zip(
            ("schema", "alias"), _names(node.get("database"), node.get("schema"), node.get("alias")), strict=True
        ):
            for other, owner in self._named.get(_lower(name), {}).items():
                if other != name:
                    what = "schema" if key == "schema" else "table"
                    return (
                        f"{what} {name[-1]!r} and {what} {other[-1]!r} (of {owner}) differ only in case, and dbt takes "
                        f"them for one. Set `{key}` in the config of one of the nodes."
                    )
        return ""


def _names(database: str | None, schema: str | None, alias: str | None) -> tuple[_Name, _Name]:
    parent = (database or "", schema or "")
    return parent, (*parent, alias or "")


def _lower(name: _Name) -> _Name:
    return tuple(part.lower() for part in name)
