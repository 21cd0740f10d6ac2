"""What the code and the YAML of a node say about its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Declared:
    """A node's name and config. The `constraints` and `columns` of its YAML apply only if the contract is enforced."""

    name: str
    config: Mapping[str, Any]
    constraints: Sequence[Mapping[str, Any]] = ()
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, node: Mapping[str, Any]) -> Declared:
        """What a node in the manifest declares."""
        return cls(node.get("name", ""), node["config"], node.get("constraints") or [], node.get("columns") or {})
