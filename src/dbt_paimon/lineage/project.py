"""The nodes of a compiled manifest, with the lineage of their columns and rows."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from dbt.adapters.paimon.sql.text import name_parts
from dbt.adapters.paimon.unchanged.nodes import overrides
from dbt_paimon.lineage import parsing, queries
from dbt_paimon.lineage.parsing import Unresolved
from dbt_paimon.lineage.queries import Field, Output, Result

# Resource types with a relation or rows of their own, and functions, which queries may call.
KINDS: Final = frozenset(("model", "seed", "snapshot", "source", "test", "function"))
# Prefix of the id of a relation that no node of the manifest has.
FOREIGN: Final = "relation:"
_ANY_CATALOG: Final = ""
_INVENTED: Final = re.compile(r"_col_\d+")
_DBT_COLUMNS: Final = ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to")


@dataclass(frozen=True)
class Query:
    """A node's query.

    Attributes:
        relations: the ids of the relations that it names; None if it cannot be parsed.
        result: its columns and rows; None if they cannot be followed.
        problem: why they cannot be followed.
    """

    relations: frozenset[str] | None = frozenset()
    result: Result | None = None
    problem: str = ""


def as_json(manifest: Any) -> dict[str, Any]:
    """A manifest as dbt writes it into a file, so that both sides of a comparison look alike."""
    from dbt_common.utils.encoding import JSONEncoder

    found: dict[str, Any] = json.loads(
        json.dumps(manifest.writable_manifest().to_dict(omit_none=False), cls=JSONEncoder)
    )
    return found


@dataclass(frozen=True)
class Project:
    """A manifest; ids and names of columns are in lower case.

    Attributes:
        manifest: as JSON, with `compiled_code`.
        given: columns of relations that have no query in the manifest, such as sources, by id.
    """

    manifest: Mapping[str, Any]
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _queries: dict[str, Query] = field(default_factory=dict, compare=False)

    @cached_property
    def nodes(self) -> Mapping[str, Mapping[str, Any]]:
        """Models, seeds, snapshots, tests, functions and sources by id. Sources come last."""
        every = [*self.manifest["nodes"].values(), *self.manifest.get("functions", {}).values()]
        every += self.manifest["sources"].values()
        return {node["unique_id"].lower(): node for node in every if node["resource_type"] in KINDS}

    @cached_property
    def overrides(self) -> str:
        """Identifies the macros that override macros of dbt or the adapter, and so may run with every node."""
        return overrides(SimpleNamespace(**macro) for macro in self.manifest["macros"].values())

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """The full name of each node's relation in lower case, by the node's id."""
        named = {node_id: node for node_id, node in self.nodes.items() if node.get("relation_name")}
        return {node_id: name_parts(node["relation_name"].lower()) for node_id, node in named.items()}

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, ...], str]:
        """The id of each relation by its full name, by schema and name, and by name."""
        found: dict[tuple[str, ...], str] = {}
        for node_id, parts in self.names.items():
            node = self.nodes[node_id]
            if node["resource_type"] in ("test", "function"):
                continue
            for start in range(len(parts)):
                found.setdefault(parts[start:], node_id)
            if node["config"].get("materialized") in ("view", "incremental"):
                # Before a view exists, it is rendered with the catalog of tables, and later with that of views. The
                # clone of an incremental model may be a view of a branch.
                found.setdefault((_ANY_CATALOG, *parts[1:]), node_id)
        return found

    def node_of(self, parts: tuple[str, ...]) -> str:
        """The id of the relation with this name in SQL, with the `$…` suffix of a system table or branch."""
        *front, last = (part.lower() for part in parts)
        name, dollar, rest = last.partition("$")
        given = (*front, name)
        view = self._by_name.get((_ANY_CATALOG, *given[1:]), FOREIGN + ".".join(given))
        return self._by_name.get(given, view) + dollar + rest

    def is_ephemeral(self, node_id: str) -> bool:
        return node_id in self.nodes and self.nodes[node_id]["config"].get("materialized") == "ephemeral"

    def parents(self, node_id: str) -> list[str]:
        """The ids that a node depends on. An ephemeral model is replaced by its own parents."""
        found: dict[str, None] = {}
        for parent in self.nodes[node_id].get("depends_on", {}).get("nodes", ()):
            name = parent.lower()
            found |= dict.fromkeys(self.parents(name) if self.is_ephemeral(name) else (name,))
        return list(found)

    def query(self, node_id: str) -> Query:
        """The query of a model, snapshot or test; for other nodes, a query without relations."""
        if node_id not in self._queries:
            # For an incremental model that reads its own table, which is not followed further.
            self._queries[node_id] = Query(None, problem="it reads its own table")
            self._queries[node_id] = self._read(self.nodes[node_id])
        return self._queries[node_id]

    def _read(self, node: Mapping[str, Any]) -> Query:
        if node["resource_type"] in ("seed", "source", "function"):
            return Query(problem=f"it is a {node['resource_type']}")
        if node.get("language", "sql") != "sql":
            return Query(None, problem="it is a Python model")
        sql = node.get("compiled_code")
        if not sql:
            return Query(None, problem="the manifest has no compiled code for it")
        relations = None
        try:
            relations = frozenset(self.node_of(name) for name in parsing.relations(sql))
            result = queries.read(sql, self.node_of, self._columns_of(relations, node))
        except Unresolved as reason:
            return Query(relations, problem=str(reason))
        if node["resource_type"] != "test" and any(_is_unnamed(name, sql) for name in result.columns):
            return Query(relations, problem="a column has no alias, and only Spark knows its name")
        return Query(relations, _of_snapshot(node, result) if node["resource_type"] == "snapshot" else result)

    def _columns_of(self, relations: Iterable[str], reader: Mapping[str, Any]) -> dict[str, Sequence[str]]:
        """The columns of the relations that a node reads; for its own table, those that its query names."""
        found = {name.partition("$")[0]: () for name in relations}
        own = reader["unique_id"].lower()
        return {name: _named(reader["compiled_code"]) if name == own else self.columns(name) for name in found}

    def columns(self, node_id: str) -> Sequence[str]:
        """The columns of a relation; empty if they are not known."""
        node = self.nodes.get(node_id, {"resource_type": ""})
        found: Sequence[str] = ()
        if node["resource_type"] == "seed":
            found = seed_columns(node)
        elif node["resource_type"] in ("model", "snapshot"):
            result = self.query(node_id).result
            if result is not None:
                passed = self.columns(result.star) if result.star else ()
                return tuple(dict.fromkeys((*passed, *result.columns))) if passed or not result.star else ()
            found = _named(node.get("compiled_code") or "") if node["resource_type"] == "model" else ()
        return found or self.given.get(node_id, ())


def documented_columns(nodes: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """The columns that the project's files give for sources and Python models, by id, if there are any."""
    return {
        node["unique_id"].lower(): tuple(name.lower() for name in node["columns"])
        for node in nodes
        if node.get("columns") and (node["resource_type"] == "source" or node.get("language") == "python")
    }


def seed_columns(seed: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns in the first line of a seed's file; empty if there is no such file."""
    path = Path(seed.get("root_path") or "", seed["original_file_path"])
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file, delimiter=seed["config"].get("delimiter") or ","), [])
    except OSError:
        return ()
    return tuple(name.strip().lower() for name in header)


def _named(sql: str) -> tuple[str, ...]:
    """The columns that a query itself names; empty if it has a `*`."""
    try:
        tree = parsing.parsed(sql)
    except Unresolved:
        return ()
    names = [name.lower() for name in tree.named_selects]
    return () if tree.is_star or not all(names) else tuple(names)


def _is_unnamed(column: str, sql: str) -> bool:
    """Whether sqlglot has invented the name of a column."""
    return bool(_INVENTED.fullmatch(column)) and column not in sql.lower()


def _of_snapshot(node: Mapping[str, Any], result: Result) -> Result:
    """The columns of a snapshot: those of its query, and dbt's own, which depend on every column of the query."""
    named = node["config"].get("snapshot_meta_column_names") or {}
    names = [*_DBT_COLUMNS, *(["dbt_is_deleted"] if node["config"].get("hard_deletes") == "new_record" else [])]
    times = {str(node["config"].get("updated_at") or "").lower()}
    updated = frozenset[Field]().union(*(output.values for name, output in result.columns.items() if name in times))
    added = {(named.get(name) or name).lower(): Output(name, updated, result.reads - updated) for name in names}
    return replace(result, columns={**result.columns, **added})
