"""Compares a node with the same node of an earlier manifest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Final

from dbt_paimon.lineage import macros, parsing
from dbt_paimon.lineage.parsing import Unresolved
from dbt_paimon.lineage.project import Project
from dbt_paimon.lineage.queries import Output, Result

# Config keys that do not affect a table.
_IRRELEVANT: Final = frozenset("tags meta docs group access enabled packages static_analysis".split())
# Idempotent strategies: a second run on the same rows changes nothing.
_REPEATABLE: Final = frozenset(("upsert", "merge", "partial_update", "insert_overwrite", "delete+insert"))
# Materializations in which a column may change while rows and other columns stay the same.
_OF_COLUMNS: Final = frozenset(("ephemeral", "incremental", "materialized_view", "table", "test", "view"))

# Jinja by which the same code gives other names in another target or environment.
_OF_TARGET: Final = re.compile(r"\{.*\b(target|env_var)\b", re.DOTALL)

IN_SOME_RUNS: Final = "SQL under is_incremental()"


class Kind(str, Enum):
    """The class of a change in a node's own code and config."""

    NOTHING = "nothing"
    ADDITIVE = "additive"
    BREAKING = "breaking"
    NEW = "new"


@dataclass(frozen=True)
class Change:
    """How a node's table differs from what it was.

    Attributes:
        kind: the class of the node's own change; NOTHING if only its parents changed.
        columns: the columns whose values may differ, including added and removed columns.
        rows: whether any row may change. Then every column counts as changed.
        builds: whether the node has to be built.
        reasons: in words, one for each cause.
    """

    kind: Kind = Kind.NOTHING
    columns: frozenset[str] = frozenset()
    rows: bool = False
    builds: bool = False
    reasons: tuple[str, ...] = ()

    def joined(self, other: Change) -> Change:
        """Combine two changes of one node."""
        reasons = tuple(dict.fromkeys((*self.reasons, *other.reasons)))
        kind = max(self.kind, other.kind, key=list(Kind).index)
        columns = self.columns | other.columns
        return Change(kind, columns, self.rows or other.rows, self.builds or other.builds, reasons)

    @classmethod
    def of_rows(cls, reason: str, kind: Kind = Kind.NOTHING) -> Change:
        """A change of all rows."""
        return cls(kind, rows=True, builds=True, reasons=(reason,))


def _breaking(reason: str) -> Change:
    return Change.of_rows(reason, Kind.BREAKING)


def own(before: Project, after: Project, node_id: str) -> Change:
    """How a node's own query and config differ from the earlier manifest."""
    node, old = after.nodes[node_id], before.nodes.get(node_id)
    if old is None:
        return Change.of_rows("it is new", Kind.NEW)
    if reason := _difference(before, after, node_id):
        return _breaking(reason)
    change = widened(after, node_id, _of_code(before, after, node_id))
    if not change.builds and _descriptions(old) != _descriptions(node):
        return replace(change, builds=True, reasons=("its description has changed",))
    return change


def _of_code(before: Project, after: Project, node_id: str) -> Change:
    node, old = after.nodes[node_id], before.nodes[node_id]
    if node["resource_type"] in ("seed", "source"):
        return Change()
    if node["resource_type"] == "function":
        return Change() if _function(before, node_id) == _function(after, node_id) else _breaking("it has changed")
    if node.get("language", "sql") != "sql":
        return Change() if old.get("raw_code") == node.get("raw_code") else _breaking("its code has changed")
    return of_queries(before, after, node_id)


def _function(project: Project, node_id: str) -> Any:
    """What a dbt function computes: its Jinja with that of its macros, and its signatures."""
    node = project.nodes[node_id]
    parts = [node.get(part) or None for part in ("arguments", "returns", "overloads")]
    return [node.get("raw_code"), sorted(macros.code(project, node_id)), parts]


def widened(project: Project, node_id: str, change: Change) -> Change:
    """Widen a change of columns to all rows, if other columns or rows depend on them (snapshots, hooks, keys)."""
    if change.rows or not change.columns:
        return change
    config = project.nodes[node_id]["config"]
    kind = config.get("materialized")
    named = sorted(change.columns & macros.config_words(config))
    reasons = (
        (kind == "snapshot", "a snapshot adds a row for each changed row"),
        (named, f"its config names {', '.join(named)}"),
        (macros.has_hooks(config), "its hooks may use the changed columns"),
        (kind not in _OF_COLUMNS, f"its materialization is {kind}"),
    )
    reason = next((reason for applies, reason in reasons if applies), "")
    if not reason and kind == "incremental":
        reason = _not_repeatable(project, node_id, change)
    if not reason:
        return change
    return replace(change, rows=True, reasons=(*change.reasons, f"all rows may change: {reason}"))


def _not_repeatable(project: Project, node_id: str, change: Change) -> str:
    """Why a changed column of an incremental model may change others; '' if it does not."""
    config = project.nodes[node_id]["config"]
    if (strategy := macros.strategy_of(config)) not in _REPEATABLE:
        return f"its strategy is {strategy}"
    if any("aggregat" in word for word in macros.config_words(config)):
        return "its merge engine aggregates"
    hidden = macros.words(macros.hidden(project, node_id) or "")
    if named := sorted(change.columns & hidden) or sorted({"*", "~"} & hidden):
        return f"{IN_SOME_RUNS} may read {named[0]}"
    return ""


# -- config ----------------------------------------------------------------------------------------------------------


def _difference(before: Project, after: Project, node_id: str) -> str:
    """A difference outside of the query that may change rows; '' if there is no such difference."""
    node, old = after.nodes[node_id], before.nodes[node_id]
    is_seed = node["resource_type"] == "seed"
    changed = [key for key in {**old["config"], **node["config"]} if old["config"].get(key) != node["config"].get(key)]
    keys = sorted({*changed} - _IRRELEVANT)
    macro = macros.changed_macro(before, after, node_id)
    reasons = (
        (keys, f"its config has changed: {', '.join(keys)}"),
        (is_seed and _checksum(node) != _checksum(old), "its file has changed"),
        (is_seed and _checksum(node).startswith("path"), "its file is too large for dbt to compare"),
        (before.overrides != after.overrides, "a macro that overrides dbt's has changed"),
        (_constraints(node) != _constraints(old), "its data types or constraints have changed"),
        (node.get("external") != old.get("external"), "where or how it is read (external) has changed"),
        (_is_renamed(before, after, node_id), "its relation name has changed"),
        (macro, f"the macro {macro}, which runs with it, has changed"),
    )
    return next((reason for applies, reason in reasons if applies), "")


def fingerprint(project: Project, node_id: str) -> str:
    """A hash of a node's Jinja, macros, config and contract, and of the file of a seed."""
    node = project.nodes[node_id]
    # Rendered values may differ in each run, as in table_tag='run_' ~ run_started_at.
    written = node.get("unrendered_config") or node["config"]
    config = {key: value for key, value in written.items() if key not in _IRRELEVANT}
    parts = [sorted(macros.code(project, node_id)), config, _constraints(node), project.overrides]
    if node["resource_type"] == "seed":
        content = Path(node["root_path"] or "", node["original_file_path"]).read_bytes()
        parts.append(hashlib.sha256(content).hexdigest())
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _checksum(node: Mapping[str, Any]) -> str:
    return " ".join(map(str, (node.get("checksum") or {}).values()))


def _is_renamed(before: Project, after: Project, node_id: str) -> bool:
    """Whether the relation's name has changed within the same target."""
    if before.names.get(node_id) == after.names.get(node_id):
        return False
    if after.nodes[node_id]["resource_type"] == "source":
        parts = ("identifier", "unrendered_database", "unrendered_schema")
        one, other = ([each.nodes[node_id].get(part) for part in parts] for each in (before, after))
        return one != other or not any(_OF_TARGET.search(str(part)) for part in one)
    # In a different target, such as a pull request's, all nodes of a schema are in another schema.
    schemas = before.names.get(node_id, ())[:-1], after.names.get(node_id, ())[:-1]
    return schemas[0] == schemas[1] or any(
        name[:-1] == schemas[0] == after.names.get(other, ())[:-1]
        for other, name in before.names.items()
        if before.nodes[other]["resource_type"] != "source"
    )


def _constraints(node: Mapping[str, Any]) -> Any:
    contract = (node.get("contract") or {}).get("enforced")
    columns = node.get("columns") or {}
    types = {name: (column.get("data_type"), column.get("quote")) for name, column in columns.items()}
    constraints = [node.get("constraints"), {name: column.get("constraints") for name, column in columns.items()}]
    return [contract, types if contract or node["resource_type"] == "source" else None, constraints]


def _descriptions(node: Mapping[str, Any]) -> Any:
    """The descriptions that persist_docs writes to the table."""
    persists = node["config"].get("persist_docs") or {}
    columns = {name: column.get("description") for name, column in (node.get("columns") or {}).items()}
    return [
        node.get("description") if persists.get("relation") else None,
        columns if persists.get("columns") else None,
    ]


# -- queries ---------------------------------------------------------------------------------------------------------


def of_queries(before: Project, after: Project, node_id: str) -> Change:
    """Compare a node's two queries. Relations are compared by node id, not by name."""
    texts = [project.nodes[node_id].get("compiled_code") or "" for project in (before, after)]
    if not texts[0]:
        return _breaking("the earlier manifest has no compiled code for it")
    old, new = before.query(node_id).result, after.query(node_id).result
    if old is None or new is None:
        return _of_texts(before, after, texts, after.query(node_id).problem or before.query(node_id).problem)
    hidden = macros.hidden(before, node_id)
    if hidden != macros.hidden(after, node_id):
        return _breaking(f"{IN_SOME_RUNS} has changed")
    if reason := _hidden_difference(hidden, old, new) or _other_case(*texts):
        return _breaking(reason)
    return compared(old, new)


def _hidden_difference(hidden: str | None, old: Result, new: Result) -> str:
    """The difference in columns that SQL under is_incremental() names; '' if there is no difference."""
    before, after = _texts(old.inner), _texts(new.inner)
    differing = [name for name in named_in(hidden, old.inner) if before[name] != after.get(name)]
    return f"{IN_SOME_RUNS} may read {differing[0]}" if differing else ""


def _other_case(one: str, other: str) -> str:
    """The reason if names of columns or fields differ only in case, which Spark stores; '' if no name does."""
    old, new = parsing.names(one), parsing.names(other)
    common = {name.lower() for name in old} & {name.lower() for name in new}
    found = sorted({name.lower() for name in old ^ new} & common)
    return f"upper and lower case changed in {', '.join(found)}" if found else ""


def named_in(hidden: str | None, inner: Mapping[str, Output]) -> list[str]:
    """The columns that hidden SQL names; all columns of the query if the SQL contains `*` or `~`."""
    words = macros.words(hidden or "")
    return [name for name in inner if name in words or not words.isdisjoint(("*", "~"))]


def _of_texts(before: Project, after: Project, texts: list[str], problem: str) -> Change:
    """For unresolved queries: no change if they are equal apart from relation names, comments and format."""
    try:
        same = parsing.plain(texts[0], before.node_of) == parsing.plain(texts[1], after.node_of)
    except Unresolved:
        same = texts[0] == texts[1]
    return Change() if same else _breaking(f"its query has changed, and cannot be resolved: {problem}")


def compared(old: Result, new: Result) -> Change:
    """How two results of a query differ."""
    if old.text != new.text or old.star != new.star:
        return _breaking("its query may return different rows")
    before, after = _texts(old.columns), _texts(new.columns)
    changed = {name for name, text in after.items() if before.get(name, text) != text}
    lost, added = before.keys() - after.keys(), after.keys() - before.keys()
    reordered = _common(before, after) != _common(after, before)
    reasons = (
        (changed, f"changed expressions: {', '.join(sorted(changed))}"),
        (lost, f"removed columns: {', '.join(sorted(lost))}"),
        (added, f"new columns: {', '.join(sorted(added))}"),
        (reordered, "reordered columns"),
    )
    found = tuple(reason for applies, reason in reasons if applies)
    if not found:
        return Change()
    kind = Kind.BREAKING if changed | lost or reordered else Kind.ADDITIVE
    return Change(kind, frozenset(changed | lost | added), builds=True, reasons=found)


def _texts(columns: Mapping[str, Output]) -> dict[str, str]:
    return {name: output.text for name, output in columns.items()}


def _common(names: Iterable[str], others: Mapping[str, str]) -> list[str]:
    return [name for name in names if name in others]
