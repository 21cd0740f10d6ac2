"""Decides from Spark's analyzed plan whether a query over unchanged inputs returns the same rows.

Plan nodes are allowed by name, so a query with an unknown node always runs. Expressions are allowed if they are
Spark's own and not listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from dbt.adapters.paimon.sql import repeatable

if TYPE_CHECKING:
    from dbt.adapters.paimon.spark.analysis import Analyzed

_PLANS: Final = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSIONS: Final = "org.apache.spark.sql.catalyst.expressions."
_SOURCES: Final = "org.apache.spark.sql.execution.datasources."
_LEAVES: Final = (f"{_SOURCES}LogicalRelation", f"{_SOURCES}v2.DataSourceV2Relation")
_KNOWN_PLANS: Final = frozenset(
    """
    Aggregate CTERelationDef CTERelationRef Distinct Except Expand Filter Generate GlobalLimit Intersect Join
    LateralJoin LocalLimit LocalRelation Offset OneRowRelation Project Range RebalancePartitions Repartition
    RepartitionByExpression ResolvedHint Sort SubqueryAlias Tail Union View Window WithCTE
    """.split()
)
# Expressions with changing or unknown results -> the function that the query calls.
_VOLATILE: Final[Mapping[str, str]] = {
    **repeatable.names_of_classes(repeatable.OUTSIDE, repeatable.CLOCKS, repeatable.SESSION),
    "ScalaUDF": "a user-defined function",
    **dict.fromkeys(
        ("PythonUDF", "PythonUDAF", "PythonUDTF", "UnresolvedPythonUDTF"), "a user-defined Python function"
    ),
    **dict.fromkeys(
        "ApplyFunctionExpression V2Aggregator objects.Invoke objects.NewInstance aggregate.V2Aggregator".split(),
        "a catalog function",
    ),
}
_CHANCE: Final = repeatable.names_of_classes(repeatable.CHANCE)


def volatile(query: Analyzed) -> str:
    """Why the query may return different rows next time; '' if it cannot."""
    for name in sorted(query.classes):
        if name in _LEAVES:
            continue
        if name.startswith(_PLANS):
            if (node := name.removeprefix(_PLANS)) not in _KNOWN_PLANS:
                return f"its plan has a {node}, which may return different rows next time"
            continue
        if not name.startswith(_EXPRESSIONS):
            return f"it uses {name.rpartition('.')[2]}, which is not Spark's own"
        short = name.removeprefix(_EXPRESSIONS)
        if short == "VariableReference":
            return "it reads a session variable"
        if short in _VOLATILE:
            return f"it calls {_VOLATILE[short]}"
        if short in _CHANCE or name in query.nondeterministic:
            return f"it calls {_CHANCE.get(short, short.lower())}, which returns a different result each time"
    if query.reads_clock:
        return "it reads the time (a value such as 'today' or 'now')"
    if query.others:
        return f"it reads {query.others[0]}"
    return ""
