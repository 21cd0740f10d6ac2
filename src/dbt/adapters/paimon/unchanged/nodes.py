"""What of a node, of the project and of the session decides which rows its table gets, beside its inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from dbt.adapters.paimon.overrides import OURS
from dbt.adapters.paimon.spec.strategies import STRATEGIES

# Parts of a node in the manifest; the other ones say where it is written down, or when.
_PARTS: Final = (
    "resource_type",
    "name",
    "database",
    "schema",
    "alias",
    "language",
    "config",
    "description",
    "columns",
    "constraints",
    "contract",
)
# Settings of Spark that decide what a query gives. A catalog's say where it is, which its tables do themselves.
_SETTINGS: Final = ("spark.sql.", "spark.paimon.")
_ELSEWHERE: Final = ("spark.sql.catalog.", "spark.sql.warehouse.dir", "spark.sql.debug.")
_HOOKS: Final = ("pre-hook", "pre_hook", "post-hook", "post_hook")


def never(node: Mapping[str, Any], strategy: str, reads_changes: bool) -> str:
    """Why a node is always run; '' if it need not be.

    Args:
        node: the node in the manifest.
        strategy: the strategy of an incremental model, else ''.
        reads_changes: whether it calls paimon_changes.
    """
    config = node["config"]
    if node.get("language", "sql") == "python":
        return "it is a Python model"
    if any(config.get(key) for key in _HOOKS):
        return "it has hooks"
    if config.get("sql_header"):
        return "it has a sql_header"
    if config.get("materialized") == "materialized_view":
        return "a materialized view finds out by itself what has changed"
    if reads_changes:
        return "it calls paimon_changes, which reads only what is new by itself"
    if strategy and not (strategy in STRATEGIES and STRATEGIES[strategy].skips):
        return f"its strategy is {strategy}"
    if config.get("table_tag"):
        return "its runs tag their table snapshot (table_tag)"
    return ""


def parts(node: Mapping[str, Any]) -> dict[str, Any]:
    """What the manifest says of a node, without its query."""
    return {part: node.get(part) for part in _PARTS}


def settings(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings of a session that decide what a query gives."""
    return {
        key: value
        for key, value in conf.items()
        if key.startswith(_SETTINGS) and not key.startswith(_ELSEWHERE)
    }


def overrides(macros: Iterable[Any]) -> str:
    """A hash of the macros of the project and its packages that take the place of dbt's, dbt-spark's or this adapter's.

    Args:
        macros: all macros of the manifest.
    """
    found = list(macros)
    ours = {macro.name for macro in found if macro.package_name in OURS}
    bare = {name.split("__", 1)[-1] for name in ours}
    texts = sorted(
        f"{macro.package_name}.{macro.name}\n{macro.macro_sql}"
        for macro in found
        if macro.package_name not in OURS and (macro.name in ours or macro.name.split("__", 1)[-1] in bare)
    )
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
