"""The columns of tables with their direct lineage, from the compiled queries in the `manifest.json` of the last run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dbt_paimon.report.figures import Column, ColumnEnd, Table

if TYPE_CHECKING:
    from dbt_paimon.lineage.project import Project
    from dbt_paimon.lineage.queries import Field

NOT_COMPILED: Final = "its compiled query is missing or older than its code; run dbt compile"


def with_lineage(tables: Sequence[Table], path: Path, nodes: Mapping[str, Mapping[str, Any]]) -> tuple[Table, ...]:
    """Add to each table what its columns are computed from, and what reads them.

    Args:
        path: the manifest; it need not exist.
        nodes: the nodes of the project as it is now. Queries of nodes whose code has changed since are left out.
    """
    manifest = _compiled(path, nodes)
    if not any(node.get("compiled_code") for node in manifest["nodes"].values()):
        missing = f"{path.name} in the target folder has no compiled queries of this project. Run dbt compile."
        return tuple(replace(table, columns_unknown=(missing,)) for table in tables)
    # Imported here, because importing sqlglot takes a second.
    from dbt_paimon.lineage.project import Project, documented_columns

    given = documented_columns([*manifest["nodes"].values(), *manifest["sources"].values()])
    given |= {table.node.lower(): tuple(each.name.lower() for each in table.columns) for table in tables}
    return _Lineage(Project(manifest, given), tables).added()


def _compiled(path: Path, nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The nodes and sources of a manifest, without compiled queries of nodes whose code has changed since."""
    try:
        found = json.loads(path.read_text("utf-8"))
        known = {key: node for key, node in found["nodes"].items() if key in nodes}
        sources = found["sources"]
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return {"nodes": {}, "sources": {}}
    for key, node in known.items():
        if node.get("raw_code") != nodes[key].get("raw_code"):
            node["compiled_code"] = None
    return {"nodes": known, "sources": {key: node for key, node in sources.items() if key in nodes}}


class _Lineage:
    """The edges from and to the columns of tables. Parses only the queries of these tables and of their readers."""

    def __init__(self, project: Project, tables: Sequence[Table]) -> None:
        from dbt_paimon.lineage import edges

        self._project, self._tables = project, tables
        self._into: dict[Field, list[ColumnEnd]] = {}
        self._out_of: dict[Field, list[ColumnEnd]] = {}
        self._problems: dict[str, str] = {}
        shown = {table.node.lower() for table in tables}
        queried = [key for key, node in project.nodes.items() if node["resource_type"] in edges.WITH_QUERY]
        self._parents = {node_id: project.parents(node_id) for node_id in queried if not project.is_ephemeral(node_id)}
        for node_id, parents in self._parents.items():
            if node_id in shown or shown.intersection(parents):
                try:
                    for edge in edges.edges_to(project, node_id):
                        self._into.setdefault(edge.target, []).append(self._end(edge.source, edge.kind))
                        self._out_of.setdefault(edge.source, []).append(self._end(edge.target, edge.kind))
                    self._problems[node_id] = self._problem(node_id)
                except Exception as exc:  # noqa: BLE001 - a fault of sqlglot must not cost the whole report
                    self._problems[node_id] = f"{type(exc).__name__}: {exc}"

    def added(self) -> tuple[Table, ...]:
        """The tables with their columns."""
        return tuple(
            replace(table, columns=tuple(self._columns(table)), columns_unknown=tuple(self._unknown(table)))
            for table in self._tables
        )

    def _columns(self, table: Table) -> Iterable[Column]:
        node_id = table.node.lower()
        names = {each.name.lower(): each.name for each in table.columns}
        # Columns that the next run adds, and those of a table that could not be read.
        names |= {key[1]: key[1] for key in (*self._into, *self._out_of) if key[0] == node_id and key[1] not in names}
        for key in sorted(names, key=lambda name: name != "*"):
            at = (node_id, key)
            yield Column(names[key], tuple(self._into.get(at, ())), tuple(self._out_of.get(at, ())))

    def _unknown(self, table: Table) -> Iterable[str]:
        node_id = table.node.lower()
        if problem := self._problems.get(node_id):
            yield f"What its columns are computed from is not known: {problem}."
        for reader, parents in self._parents.items():
            if node_id in parents and reader != node_id and (problem := self._problems[reader]):
                yield f"Which columns {self._project.nodes[reader]['name']} reads is not known: {problem}."

    def _problem(self, node_id: str) -> str:
        node = self._project.nodes[node_id]
        if node.get("language", "sql") == "sql" and not node.get("compiled_code"):
            return NOT_COMPILED
        return self._project.query(node_id).problem

    def _end(self, field: Field, kind: str) -> ColumnEnd:
        from dbt_paimon.lineage import edges

        node = self._project.nodes.get(field[0], {"unique_id": ""})
        return ColumnEnd(node["unique_id"], edges.shown_name(self._project, field[0]), field[1], kind)
