"""What a node's Jinja may read beyond its compiled query, and whether its macros have changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final

from dbt.adapters.paimon.overrides import OURS
from dbt.adapters.paimon.spec.strategies import STRATEGIES
from dbt.adapters.paimon.unchanged import nodes
from dbt_paimon.lineage.project import Project

# Materializations whose rows are those of the node's query, and which need no other query.
_OF_QUERY: Final = frozenset(("ephemeral", "incremental", "materialized_view", "snapshot", "table", "test", "view"))
_HOOKS: Final = ("pre-hook", "pre_hook", "post-hook", "post_hook")
_SNAPSHOT_STRATEGIES: Final = ("check", "timestamp")
# Names by which Jinja reads tables, or depends on what a run selects. `adapter.dispatch` only finds a macro.
_READS: Final = re.compile(
    r"\b(run_query|statement|load_result|load_relation|load_cached_relation|context|builtins|flags|selected_resources|"
    r"invocation_args_dict|adapter(?!\s*\.\s*dispatch\b))\b"
)
_DISPATCH_BY_NAME: Final = re.compile(r"adapter\s*\.\s*dispatch\s*\(\s*(?:macro_name\s*=\s*)?['\"]")
_DISPATCH: Final = re.compile(r"adapter\s*\.\s*dispatch\s*\(")
_MODE: Final = re.compile(r"\b(is_incremental|should_full_refresh)\b")
# Macros of dbt that a node's mode depends on; they read nothing else.
_OF_MODE: Final = frozenset(("is_incremental", "should_full_refresh"))
_TAG: Final = re.compile(r"\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_IF: Final = re.compile(r"\{%-?\s*(el)?if\b")
_END_IF: Final = re.compile(r"\{%-?\s*endif\b")
_DEFINES: Final = re.compile(r"\{%-?\s*(macro|endmacro)\b")
_WORD: Final = re.compile(r"\w+|[*~]")


def opaque(project: Project, node_id: str) -> str:
    """Why a node may read more than its compiled query shows; '' if it reads nothing else."""
    node = project.nodes[node_id]
    config = node["config"]
    kind = str(config.get("materialized"))
    if node.get("language", "sql") != "sql":
        return "it is a Python model"
    if node["resource_type"] == "seed":
        return ""
    if kind not in _OF_QUERY:
        return f"its materialization is {kind}"
    strategy = str(config.get("incremental_strategy") or "upsert")
    if kind == "incremental" and (strategy not in STRATEGIES or strategy == "microbatch"):
        return f"its strategy is {strategy}"
    if kind == "snapshot" and config.get("strategy") not in _SNAPSHOT_STRATEGIES:
        return f"its strategy is {config.get('strategy')}"
    if any(config.get(key) for key in _HOOKS):
        return "it has hooks"
    if config.get("sql_header"):
        return "it has a sql_header"
    for name, text in _jinja(project, node):
        if found := _READS.search(text):
            return f"{name} calls {found[1]}, which may query"
        if len(_DISPATCH.findall(text)) > len(_DISPATCH_BY_NAME.findall(text)):
            return f"{name} calls a macro by a name that is computed"
    return ""


def hidden(project: Project, node_id: str) -> str | None:
    """The Jinja and SQL of a model that its compiled query may lack, because only first or only later runs have it.

    None if the compiled query is the same in every run.
    """
    # The macros of dbt and the adapter name no columns of a project.
    jinja = [(name.rpartition(" ")[2], text) for name, text in _jinja(project, project.nodes[node_id], without=OURS)]
    if not any(_MODE.search(text) for _, text in jinja):
        return None
    found = [_of_mode(text) for _, text in jinja]
    if None in found:
        return "\n".join(sorted(text for _, text in jinja))
    waiting = [text for text in found if text]
    texts = dict(jinja[1:])
    parts: list[str] = []
    while waiting:
        parts.append(waiting.pop())
        called = words(parts[-1])
        # A macro that is called there is hidden as a whole.
        waiting += [texts.pop(name) for name in list(texts) if name.lower() in called]
    # dbt lists the macros of a node in any order.
    return "\n".join(sorted(parts))


def words(text: str) -> frozenset[str]:
    """The words of SQL or Jinja in lower case; `*` and `~` (which joins names) are words, too."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def config_words(config: Mapping[str, Any]) -> frozenset[str]:
    """The words of a node's config, which may name columns by which rows are matched, ordered or divided.

    The members of a sequence group are left out: a value of theirs changes no other.
    """
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                walk(str(key))
                if key != "sequence_group":
                    walk(inner)
        elif isinstance(value, (list, tuple)):
            for inner in value:
                walk(inner)
        elif isinstance(value, str):
            found.update(words(value))

    walk({key: value for key, value in config.items() if key not in ("meta", "docs", "tags", "group")})
    return frozenset(found)


def changed_macro(before: Project, after: Project, node_id: str) -> str:
    """A macro of the project or its packages that runs with a node, and has changed; '' if there is no such macro.

    Macros that only make the query are left out, because the compiled query shows their change.
    """
    node = after.nodes[node_id]
    config = node["config"]
    own_materialization = config.get("materialized") not in {*_OF_QUERY, "seed", "streaming"}
    own_strategy = str(config.get("incremental_strategy") or "upsert") not in STRATEGIES
    custom = own_materialization or own_strategy or bool(config.get("strategy") not in {*_SNAPSHOT_STRATEGIES, None})
    if not custom and not any(config.get(key) for key in (*_HOOKS, "sql_header")):
        return ""
    reached = set(after.manifest["macros"]) if custom else set(_reached(after, node))
    return next((name for name in sorted(reached) if _is_changed(before, after, name)), "")


def changed_override(before: Project, after: Project) -> bool:
    """Whether a macro that overrides one of dbt or the adapter has changed: it may run with every node."""
    one, other = (
        nodes.overrides(SimpleNamespace(**macro) for macro in project.manifest["macros"].values())
        for project in (before, after)
    )
    return one != other


def _is_changed(before: Project, after: Project, name: str) -> bool:
    macro = after.manifest["macros"].get(name, {})
    if macro.get("package_name") in OURS:
        return False
    return bool(before.manifest["macros"].get(name, {}).get("macro_sql") != macro.get("macro_sql"))


def _jinja(project: Project, node: Mapping[str, Any], *, without: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Name and text of a node, then of each macro that it calls, and the same of the ephemeral models that it reads.

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

    dbt lists the macros that it has met while it parsed. Those in a branch that it did not take are found by name.
    """
    every = project.manifest["macros"]
    by_name = {macro["name"]: key for key, macro in every.items() if macro["package_name"] not in OURS}

    def called(depends_on: Mapping[str, Any], text: str) -> list[str]:
        return [*depends_on.get("macros", ()), *(by_name[word] for word in _WORD.findall(text) if word in by_name)]

    found: dict[str, None] = {}
    waiting = called(node.get("depends_on", {}), node.get("raw_code") or "")
    while waiting:
        name = waiting.pop()
        macro = every.get(name, {})
        if name not in found:
            found[name] = None
            if macro.get("name") not in _OF_MODE:
                own = "" if macro.get("package_name") in OURS else macro.get("macro_sql") or ""
                waiting += called(macro.get("depends_on", {}), own)
    return list(found)


def _of_mode(text: str) -> str | None:
    """What stands between `{% if is_incremental() %}` and `{% endif %}`; None if the mode is asked in another way."""
    parts: list[str] = []
    # For each open `if`, whether it asks for the mode.
    opened: list[bool] = []
    at = 0
    for tag in _TAG.finditer(text):
        asks = bool(_MODE.search(tag[0])) and not tag[0].startswith("{#")
        if any(opened):
            parts.append(text[at : tag.start()] + tag[0])
        at = tag.end()
        branch = _IF.match(tag[0])
        if asks and not branch and not _DEFINES.match(tag[0]):
            return None
        if branch and not branch[1]:
            opened.append(asks)
        elif branch and opened:
            opened[-1] = opened[-1] or asks
        elif _END_IF.match(tag[0]) and opened:
            opened.pop()
    return " ".join(parts)
