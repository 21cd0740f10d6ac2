"""dbt features that Spark or Paimon does not support, each with an alternative."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

UNSUPPORTED: Final[Mapping[str, str]] = {
    # Source: Spark's SqlBaseParser, "Operation not allowed: GRANT"; Paimon's privileges are Flink procedures.
    "grants": (
        "Spark has no GRANT, and Paimon's catalogs accept privileges only from Flink. Remove `grants` "
        "from the config, and grant access in the warehouse and its catalog."
    ),
    # Source: SQLFunction of Spark 4, "SQL scalar function cannot contain aggregate/window/generate functions".
    "aggregate": (
        "Spark creates no aggregate functions in SQL. Write a macro that renders the expression, or a Python model."
    ),
    "python": (
        "a materialization of a project or package cannot run a Python model. Use materialized='table' or "
        "'incremental', or write the model in SQL."
    ),
    "dynamic_table": (
        "this is a Snowflake table that refreshes itself. Use materialized='materialized_view', whose runs read only "
        "changes, or 'streaming' for input that keeps arriving."
    ),
}


def problem(feature: str, node: Mapping[str, Any]) -> str:
    """Why a node cannot use a feature (a key of UNSUPPORTED), and the alternative."""
    return f"{node.get('resource_type', 'model')} '{node['name']}': {feature}: {UNSUPPORTED[feature]}"
