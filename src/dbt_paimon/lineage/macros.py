"""What a node's Jinja may read beyond its compiled query, and whether its macros have changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dbt.adapters.paimon.overrides import OURS
from dbt.adapters.paimon.spec import strategies
from dbt.adapters.paimon.spec.config_values import column_list
from dbt.adapters.paimon.spec.dbt_snapshots import SNAPSHOT_STRATEGIES
from dbt.adapters.paimon.spec.strategies import STRATEGIES
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.unchanged.nodes import HOOKS
from dbt_paimon.lineage.project import Project

# Materializations that store the rows of the node's query, and run no other query.
_OF_QUERY: Final = frozenset(("ephemeral", "incremental", "materialized_view", "snapshot", "table", "test", "view"))
# Config keys that name no columns.
_SAYS_NOTHING: Final = ("meta", "docs", "tags", "group")
# Names by which Jinja reads tables, or depends on what a run selects. `adapter.dispatch('name')` reads nothing.
_READS: Final = re.compile(
    r"\b(run_query|statement|load_result|load_relation|load_cached_relation|context|builtins|flags|selected_resources|"
    r"invocation_args_dict|adapter(?!\s*\.\s*dispatch\s*\(\s*(?:macro_name\s*=\s*)?['\"]))\b"
)
_MODE: Final = re.compile(r"\b(is_incremental|should_full_refresh)\b")
# dbt macros that distinguish first runs from later ones. They read no other tables.
_OF_MODE: Final = frozenset(("is_incremental", "should_full_refresh"))
_COMMENT: Final = re.compile(r"\{#.*?#\}", re.DOTALL)
_INNERMOST_IF: Final = re.compile(
    r"\{%[-+]?\s*if\b((?:(?!\{%[-+]?\s*(?:if|endif)\b).)*)\{%[-+]?\s*endif\b.*?%\}", re.DOTALL
)
_WORD: Final = re.compile(r"\w+|[*~]")


def opaque(project: Project, node_id: str) -> str:
    """Why a node may read more than its compiled query shows; '' if it reads nothing else."""
    node = project.nodes[node_id]
    if node["resource_type"] == "seed":
        return ""
    config = node["config"]
    kind = config.get("materialized")
    reasons = (
        (node.get("language", "sql") != "sql", "it is a Python model"),
        (kind == "streaming", "its materialization is streaming"),
        (kind == "incremental" and strategy_of(config) == "microbatch", "its strategy is microbatch"),
        (has_hooks(config), "it has hooks"),
        (config.get("sql_header"), "it has a sql_header"),
    )
    calls = ((_READS.search(text), name) for name, text in _jinja(project, node))
    found = [_own_code(config), *(reason for applies, reason in reasons if applies)]
    found += [f"{name} calls {call[1]}, which may run a query" for call, name in calls if call]
    return next(filter(None, found), "")


def code(project: Project, node_id: str) -> list[tuple[str, str]]:
    """The names and texts of a node and of the project's macros and ephemeral models that it uses, without comments."""
    found = _jinja(project, project.nodes[node_id], without=OURS)
    return [(name, _COMMENT.sub("", text)) for name, text in found]


def _own_code(config: Mapping[str, Any]) -> str:
    """Why the project's macros write the node (a custom materialization or strategy); '' if they do not."""
    kind = config.get("materialized")
    if kind not in {*_OF_QUERY, "seed", "streaming"}:
        return f"its materialization is {kind}"
    if kind == "incremental" and strategy_of(config) not in STRATEGIES:
        return f"its strategy is {strategy_of(config)}"
    if kind == "snapshot" and config.get("strategy") not in SNAPSHOT_STRATEGIES:
        return f"its strategy is {config.get('strategy')}"
    return ""


def strategy_of(config: Mapping[str, Any]) -> str:
    """The strategy of an incremental model, as the adapter chooses it for a key that the config names."""
    return strategies.strategy_of(TableSpec(tuple(column_list(config.get("primary_key")))), config)


def has_hooks(config: Mapping[str, Any]) -> bool:
    """Whether a node has hooks."""
    return any(config.get(key) for key in HOOKS)


def hidden(project: Project, node_id: str) -> str | None:
    """The Jinja and SQL of a model that its compiled query may lack, because they depend on is_incremental().

    None if the compiled query is the same in every run.
    """
    # The macros of dbt and the adapter name no columns of a project.
    jinja = list(_jinja(project, project.nodes[node_id], without=OURS))
    if not any(_MODE.search(text) for _, text in jinja):
        return None
    found = [_of_mode(text) for _, text in jinja]
    if None in found:
        found = [text for _, text in jinja]
    parts = dict.fromkeys(filter(None, found))
    waiting = list(parts)
    while waiting:
        called = words(waiting.pop())
        # Add the whole text of each macro that this SQL calls, also by dispatch (`default__name`).
        more = [text for name, text in jinja if call_names(name) & called and text not in parts]
        parts |= dict.fromkeys(more)
        waiting += more
    # Sorted, because dbt lists the macros of a node in any order.
    return "\n".join(sorted(parts))


def call_names(macro: str) -> set[str]:
    """The names by which Jinja calls a macro."""
    name = macro.rpartition(" ")[2].lower()
    return {name, name.partition("__")[2] or name}


def words(text: str) -> frozenset[str]:
    """The words of SQL or Jinja in lower case; `*`, and `~` (concatenation in Jinja), count as words."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def config_words(config: Mapping[str, Any]) -> frozenset[str]:
    """The words of a node's config, which may name columns that match, order or partition rows.

    The members of a sequence group are left out: their values do not affect other columns.
    """
    return words(" ".join(_strings({key: value for key, value in config.items() if key not in _SAYS_NOTHING})))


def _strings(value: Any) -> Iterator[str]:
    """The keys and strings in a config."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner if key != "sequence_group" else ())
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value


def changed_macro(before: Project, after: Project, node_id: str) -> str:
    """A macro of the project or its packages that runs with a node, and has changed; '' if there is no such macro.

    Macros that only make the query are left out, because the compiled query shows their change.
    """
    node = after.nodes[node_id]
    config = node["config"]
    if node["resource_type"] in ("source", "function"):
        return ""
    if _own_code(config):
        reached = set(after.manifest["macros"])
    elif has_hooks(config) or config.get("sql_header"):
        reached = set(_reached(after, node))
    else:
        return ""
    earlier, later = before.manifest["macros"], after.manifest["macros"]
    own = [name for name in sorted(reached) if later.get(name, {}).get("package_name") not in OURS]
    changed = (name for name in own if _text(earlier, name) != _text(later, name))
    return next(changed, "")


def _text(macros: Mapping[str, Any], name: str) -> str:
    return str(macros.get(name, {}).get("macro_sql"))


def _jinja(project: Project, node: Mapping[str, Any], *, without: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """The names and texts of a node and of each macro that it calls, then those of the ephemeral models that it reads.

    The macros of the packages `without` are left out.
    """
    yield "it", node.get("raw_code") or ""
    for name in _reached(project, node):
        macro = project.manifest["macros"].get(name, {})
        if macro.get("name") not in _OF_MODE and macro.get("package_name") not in without:
            yield f"its macro {macro.get('name', name)}", macro.get("macro_sql") or ""
    for parent in node.get("depends_on", {}).get("nodes", ()):
        if project.is_ephemeral(parent.lower()):
            yield from _jinja(project, project.nodes[parent.lower()], without=without)


def _reached(project: Project, node: Mapping[str, Any]) -> list[str]:
    """The ids of the macros that a node calls, and of those that they call.

    dbt lists only the macros that it met while parsing. Macros in a branch that it did not take are found by name.
    """
    every = project.manifest["macros"]
    by_name = {macro["name"]: key for key, macro in every.items() if macro["package_name"] not in OURS}
    found: dict[str, None] = {}
    waiting = [node]
    while waiting:
        more = [name for name in _called(waiting.pop(), by_name) if name not in found]
        found |= dict.fromkeys(more)
        waiting += [every[name] for name in more if name in every and every[name]["name"] not in _OF_MODE]
    return list(found)


def _called(caller: Mapping[str, Any], by_name: Mapping[str, str]) -> list[str]:
    """The macros of the project that a node or macro calls; `by_name` maps their names to their ids."""
    text = caller.get("raw_code") or caller.get("macro_sql") or ""
    named = [] if caller.get("package_name") in OURS else _WORD.findall(text)
    return [*caller.get("depends_on", {}).get("macros", ()), *(by_name[word] for word in named if word in by_name)]


def _of_mode(text: str) -> str | None:
    """The text inside `{% if is_incremental() %}` blocks; None if is_incremental() is used outside of an `if`."""
    found: list[str] = []

    def cut(branches: re.Match[str]) -> str:
        condition, _, body = branches[1].partition("%}")
        if _MODE.search(condition) and not _MODE.search(body):
            found.append(branches[0])
            return ""
        return branches[1]

    text, cuts = _COMMENT.sub("", text), 1
    while cuts:
        text, cuts = _INNERMOST_IF.subn(cut, text)
    return None if _MODE.search(text) else " ".join(found)
