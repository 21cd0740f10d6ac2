"""Whether a query over unchanged inputs returns the same rows, judged by the classes of Spark's analyzed plan.

Plan nodes are allowed by name, so a new kind of node is never skipped. Expressions are allowed if they are Spark's own
and not in the list here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dbt.adapters.paimon.spark.analysis import Analyzed

_PLANS: Final = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSIONS: Final = "org.apache.spark.sql.catalyst.expressions."
_LEAVES: Final = frozenset(
    {
        "org.apache.spark.sql.execution.datasources.LogicalRelation",
        "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation",
    }
)
_KNOWN_PLANS: Final = frozenset(
    """
    Aggregate CTERelationDef CTERelationRef Distinct Except Expand Filter Generate GlobalLimit Intersect Join
    LateralJoin LocalLimit LocalRelation Offset OneRowRelation Project Range RebalancePartitions Repartition
    RepartitionByExpression ResolvedHint Sort SubqueryAlias Tail Union View Window WithCTE
    """.split()
)
# Expressions with changing or unknown results -> what they read or are.
_VOLATILE: Final[Mapping[str, str]] = {
    "CurrentDate": "current_date",
    "CurrentTimestamp": "current_timestamp",
    "CurrentTime": "current_time",
    "LocalTimestamp": "localtimestamp",
    "Now": "now",
    "CurrentTimeZone": "current_timezone",
    "CurrentCatalog": "current_catalog",
    "CurrentDatabase": "current_database",
    "CurrentUser": "current_user",
    "SessionUser": "session_user",
    "AesEncrypt": "aes_encrypt",
    "CallMethodViaReflection": "java_method",
    "TryReflect": "try_reflect",
    "RandStr": "randstr",
    "Uniform": "uniform",
    "ScalaUDF": "a user's function",
    "PythonUDF": "a user's Python function",
    "PythonUDAF": "a user's Python function",
    "PythonUDTF": "a user's Python function",
    "UnresolvedPythonUDTF": "a user's Python function",
    "ApplyFunctionExpression": "a function of a catalog",
    "V2Aggregator": "a function of a catalog",
    "objects.Invoke": "a function of a catalog",
    "objects.NewInstance": "a function of a catalog",
    "aggregate.V2Aggregator": "a function of a catalog",
}


def volatile(query: Analyzed) -> str:
    """Why the query may return other rows next time; '' if it does not."""
    for name in sorted(query.classes):
        if name in _LEAVES:
            continue
        if name.startswith(_PLANS):
            if (node := name.removeprefix(_PLANS)) not in _KNOWN_PLANS:
                return f"its plan has a {node}, which may give other rows next time"
            continue
        if not name.startswith(_EXPRESSIONS):
            return f"it uses {name.rpartition('.')[2]}, which is not Spark's own"
        short = name.removeprefix(_EXPRESSIONS)
        if short in _VOLATILE:
            return f"it calls {_VOLATILE[short]}"
        if name in query.nondeterministic:
            return f"it calls {short.lower()}, which gives another result each time"
    if query.reads_clock:
        return "it reads the time (a value such as 'today' or 'now')"
    if query.others:
        return f"it reads {query.others[0]}"
    return ""
