"""Finds the nodes that saved files define or affect."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest


def touched(manifest: Manifest, folder: Path, saved: Iterable[Path]) -> list[str]:
    """The names of models, seeds and snapshots in saved files, and of those that call macros in them.

    YAML files count for none: they may describe many nodes.
    """
    paths = {_relative(path, folder) for path in saved}
    macros = {name for name, macro in manifest.macros.items() if macro.original_file_path in paths}
    callers = _with_callers(manifest, macros)
    found = {
        node.name
        for node in _nodes(manifest)
        if node.original_file_path in paths and not node.original_file_path.endswith((".yml", ".yaml"))
    }
    found |= {node.name for node in _nodes(manifest) if callers & set(node.depends_on.macros)}
    return sorted(found)


def _nodes(manifest: Manifest) -> list[Any]:
    nodes: Iterable[Any] = manifest.nodes.values()
    return [node for node in nodes if node.resource_type in ("model", "seed", "snapshot")]


def _with_callers(manifest: Manifest, macros: set[str]) -> set[str]:
    """The macros and all macros that call them."""
    found = set(macros)
    while True:
        more = {name for name, macro in manifest.macros.items() if found & set(macro.depends_on.macros)} - found
        if not more:
            return found
        found |= more


def _relative(path: Path, folder: Path) -> str:
    try:
        return str(path.resolve().relative_to(folder.resolve()))
    except ValueError:
        return str(path)
