"""The settings of a node, project and session that determine a node's rows, apart from its inputs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from dbt.adapters.paimon.overrides import OURS
from dbt.adapters.paimon.spec.dbt_snapshots import SNAPSHOT_STRATEGIES
from dbt.adapters.paimon.spec.strategies import STRATEGIES, has_conditions

# The parts of a manifest node that its rows depend on; the others say where and when it was defined.
_PARTS: Final = (
    "resource_type name database schema alias language config description columns constraints contract".split()
)
# Prefixes of Spark settings that determine what a query returns. A catalog's settings do not: they only locate it.
_SETTINGS: Final = ("spark.sql.", "spark.paimon.")
_IRRELEVANT: Final = ("spark.sql.catalog.", "spark.sql.warehouse.dir", "spark.sql.debug.")
_WORD: Final = re.compile(r"\w+")
HOOKS: Final = ("pre-hook", "pre_hook", "post-hook", "post_hook")


def never(node: Mapping[str, Any], strategy: str, reads_changes: bool) -> str:
    """Why a node can never be skipped; '' if it can. `strategy` is '' unless the node is incremental."""
    config = node["config"]
    own = config.get("strategy")
    skips = not strategy or (strategy in STRATEGIES and STRATEGIES[strategy].skips)
    reasons = (
        (node.get("language", "sql") == "python", "it is a Python model"),
        (any(config.get(key) for key in HOOKS), "it has hooks"),
        (config.get("sql_header"), "it has a sql_header"),
        (config.get("materialized") == "materialized_view", "a materialized view detects changes by itself"),
        (reads_changes, "it calls paimon_changes, which only reads new changes anyway"),
        (not skips, f"its strategy is {strategy}"),
        (config.get("materialized") == "snapshot" and own not in SNAPSHOT_STRATEGIES, f"its strategy is {own}"),
        # They are not searched for functions such as current_date().
        (strategy and has_conditions(config), "its conditions may give another result in a later run"),
        (config.get("table_tag"), "each run tags its table snapshot (table_tag)"),
    )
    return next((reason for applies, reason in reasons if applies), "")


def parts(node: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a node that its rows depend on, except its query."""
    return {part: node.get(part) for part in _PARTS}


def settings(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings of a session that determine what a query returns."""
    return {key: value for key, value in conf.items() if key.startswith(_SETTINGS) and not key.startswith(_IRRELEVANT)}


def overrides(macros: Iterable[Any]) -> str:
    """A hash of the macros in the project and its packages that override macros of dbt, dbt-spark or this adapter.

    It includes the macros that these call, found by name.
    """
    every = list(macros)
    ours = {macro.name for macro in every if macro.package_name in OURS}
    bare = {_undispatched(name) for name in ours}
    others = [macro for macro in every if macro.package_name not in OURS]
    found = [macro for macro in others if macro.name in ours or _undispatched(macro.name) in bare]
    # The loop also visits the macros that it appends.
    for macro in found:
        called = set(_WORD.findall(macro.macro_sql))
        found += [each for each in others if {each.name, _undispatched(each.name)} & called and each not in found]
    texts = sorted(f"{macro.package_name}.{macro.name}\n{macro.macro_sql}" for macro in found)
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _undispatched(name: str) -> str:
    """A macro's name without the prefix that `adapter.dispatch` adds."""
    return name.split("__", 1)[-1]
