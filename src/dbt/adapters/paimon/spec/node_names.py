"""Finds nodes whose names clash: they differ only in case, or one is the table of another node's dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dbt.adapters.paimon.sql.helper_names import stream_of

_STORED: Final = ("model", "seed", "snapshot")
_Name = tuple[str, str, str]


class NodeNames:
    """The tables and views in dbt's manifest, by lower-case name."""

    def __init__(self, nodes: Iterable[Any]) -> None:
        self._named: dict[_Name, dict[_Name, str]] = {}
        self._streams: dict[_Name, str] = {}
        for node in nodes:
            if node.resource_type in _STORED and node.config.materialized != "ephemeral":
                name = (node.database or "", node.schema or "", node.alias or "")
                owners = self._named.setdefault(_lower(name), {})
                owners.setdefault(name, f"{node.resource_type} '{node.name}'")
                if node.config.materialized == "streaming":
                    self._streams[name] = node.name

    def problem(self, node: Mapping[str, Any]) -> str:
        """Why a node cannot be built under its name, with the remedy; '' if it can be."""
        name = (node.get("database") or "", node.get("schema") or "", node.get("alias") or "")
        # dbt's cache confuses names that differ only in case (`reference_keys._make_ref_key`).
        for other, owner in self._named.get(_lower(name), {}).items():
            if other != name:
                return (
                    f"its table {'.'.join(name[1:])} and {'.'.join(other[1:])}, that of {owner}, differ only in case, "
                    "and dbt treats them as one. Give one of the nodes another `alias`."
                )
        base = stream_of(name[2])
        if base is not None and (stream := self._streams.get((*name[:2], base))):
            return (
                f"table {name[2]!r}: the streaming model '{stream}' has its dead letters in a table of this name. Use "
                "a different name as `alias` of the node, or as its name."
            )
        return ""


def _lower(name: _Name) -> _Name:
    database, schema, alias = name
    return database, schema.lower(), alias.lower()
