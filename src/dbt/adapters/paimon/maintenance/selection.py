"""Node selection for operations: a subset of dbt's `--select`, because `dbt run-operation` does not have that flag."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import Node
from dbt.adapters.paimon.options.table_options import suggestion

_GRAPH_OPERATOR: Final = re.compile(r"^[+@]|^\d+\+|\+\Z|,")
# Materializations whose relation is a table.
TABLES: Final = ("table", "incremental", "materialized_view", "streaming", "seed", "snapshot")


def select(nodes: Iterable[Node], wanted: str | Sequence[str] | None, operation: str) -> list[Node]:
    """The tables that a selection matches, ordered by name.

    Args:
        wanted: a list, or a string of items separated by spaces; None selects all tables. An item is a name
            (may contain `*`), `tag:x`, a path with or without `path:`, or a prefix of the fully qualified name
            (`marts`, `project.marts`).

    Raises:
        DbtRuntimeError: part of the selection matches no table.
    """
    known = sorted(filter(_is_table, nodes), key=lambda node: str(node["name"]))
    if wanted is None:
        return known
    items = wanted.split() if isinstance(wanted, str) else list(map(str, wanted))
    if not items:
        raise DbtRuntimeError(f"{operation}: select is empty")
    problems = [_problem(item, known) for item in items]
    if any(problems):
        raise DbtRuntimeError(f"{operation}: select: {'; '.join(filter(None, problems))}")
    return [node for node in known if any(_matches(node, item) for item in items)]


def _is_table(node: Node) -> bool:
    return node["resource_type"] in ("model", "seed", "snapshot") and node["config"].get("materialized") in TABLES


def _problem(item: str, known: Sequence[Node]) -> str:
    """Why an item selects nothing; empty if it selects tables."""
    if _GRAPH_OPERATOR.search(item):
        return f"'{item}': graph operators are not supported. Give the names that `dbt ls --select {item}` lists"
    if any(_matches(node, item) for node in known):
        return ""
    near = suggestion(item, [str(node["name"]) for node in known], cutoff=0.6)
    hint = f"Did you mean '{near}'?" if near else "Give a name, tag:x, a path or a folder of the project"
    return f"'{item}': matches no table in this project. {hint}"


def _matches(node: Node, item: str) -> bool:
    method, _, rest = item.partition(":")
    path = str(node["original_file_path"]).replace("\\", "/")
    if method == "tag" and rest:
        return any(fnmatchcase(tag, rest) for tag in node.get("tags") or ())
    if method == "path" and rest:
        return _under(path, rest)
    if "/" in item:
        return _under(path, item)
    if fnmatchcase(str(node["name"]), item):
        return True
    fqn = list(map(str, node["fqn"]))
    parts = item.removeprefix("fqn:").split(".")
    return fqn[: len(parts)] == parts or fqn[1 : len(parts) + 1] == parts


def _under(path: str, folder: str) -> bool:
    folder = folder.removeprefix("./").rstrip("/")
    return path == folder or path.startswith(f"{folder}/") or fnmatchcase(path, folder)
