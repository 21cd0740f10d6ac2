"""What makes a query return other rows when it is read again: the only list of such functions, plan nodes and clauses.

Which of them count depends on the question:

- Does every read of one statement return the same rows? (`writing.model_query`, `spark.analysis.reads_alike`): all but
  SESSION. CLOCKS count only where they choose rows. MERGE runs several queries, each with its own time [code, 2.0.0].
- Would a later run over unchanged inputs return the same rows? (`unchanged.queries`): CHANCE, OUTSIDE, CLOCKS, SESSION.
  The stored rows are a valid result of the others, such as a limit.
- Can a materialized view be refreshed group by group? (`plan.materialized_views`): all but TIES, of which the view may
  keep any.

Not listed are functions whose value changes only in its last digits (a `sum` of doubles), and `input_file_name`, which
is the same for a row each time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import Final

# SQL function -> Spark's class, without its package; of several functions with one class, messages name the last.
Functions = Mapping[str, str]

CHANCE: Final[Functions] = {
    "random": "Rand",
    "rand": "Rand",
    "randn": "Randn",
    "randstr": "RandStr",
    "uniform": "Uniform",
    "uuid": "Uuid",
    "shuffle": "Shuffle",
    "monotonically_increasing_id": "MonotonicallyIncreasingID",
    "spark_partition_id": "SparkPartitionID",
    "aes_encrypt": "AesEncrypt",
}
# They call Java methods, whose results Spark does not know.
OUTSIDE: Final[Functions] = {
    "reflect": "CallMethodViaReflection",
    "java_method": "CallMethodViaReflection",
    "try_reflect": "TryReflect",
}
# Their result depends on the order in which rows arrive.
ORDER: Final[Functions] = {
    "first": "aggregate.First",
    "first_value": "aggregate.First",
    "last": "aggregate.Last",
    "last_value": "aggregate.Last",
    "any_value": "aggregate.AnyValue",
    "collect_list": "aggregate.CollectList",
    "array_agg": "aggregate.CollectList",
    "collect_set": "aggregate.CollectSet",
}
# They depend on the order only if rows tie or the query does not sort, or they approximate. Spark calls them
# deterministic.
TIES: Final[Functions] = {
    "max_by": "aggregate.MaxBy",
    "min_by": "aggregate.MinBy",
    "mode": "aggregate.Mode",
    "listagg": "aggregate.ListAgg",
    "string_agg": "aggregate.ListAgg",
    "percentile_approx": "aggregate.ApproximatePercentile",
    "approx_percentile": "aggregate.ApproximatePercentile",
    "histogram_numeric": "aggregate.HistogramNumeric",
    "row_number": "RowNumber",
    "ntile": "NTile",
    "lag": "Lag",
    "lead": "Lead",
    "nth_value": "NthValue",
}
CLOCKS: Final[Functions] = {
    "current_date": "CurrentDate",
    "current_timestamp": "CurrentTimestamp",
    "current_time": "CurrentTime",
    "localtimestamp": "LocalTimestamp",
    "now": "Now",
}
SESSION: Final[Functions] = {
    "current_timezone": "CurrentTimeZone",
    "current_catalog": "CurrentCatalog",
    "current_database": "CurrentDatabase",
    "current_user": "CurrentUser",
    "session_user": "SessionUser",
}
# While Spark analyzes a query, Paimon replaces a call of max_pt by the newest partition (ReplacePaimonFunctions), and
# Spark replaces an identifier by a column. So the plan does not show the calls, and a later run may get another value.
REPLACED: Final = frozenset(("max_pt", "identifier"))
# Plan nodes that choose rows by their place or by chance, and the clauses for them.
CHOOSING_NODES: Final = frozenset("GlobalLimit LocalLimit Offset Sample Tail".split())
_CHOOSING_CLAUSES: Final = "limit|offset|tablesample"

_BETWEEN_READS: Final = "|".join(chain(CHANCE, OUTSIDE, ORDER, TIES))
_TEXT: Final = re.compile(rf"\b(?:{_BETWEEN_READS})\s*\(|\b(?:{_CHOOSING_CLAUSES})\b", re.IGNORECASE)
_PLAN: Final = re.compile(rf"\b(?:{_BETWEEN_READS})\(|\b(?:{'|'.join(sorted(CHOOSING_NODES))})\b")
_CHOOSING_CLOCK: Final = re.compile(rf"^[ :+-]*(?:Filter|Join)\b.*\b(?:{'|'.join(CLOCKS)})\(", re.MULTILINE)


def names_of_classes(*groups: Functions) -> dict[str, str]:
    """Spark's classes of these functions, and the function that messages name."""
    return {name: function for group in groups for function, name in group.items()}


def seems_repeatable(sql: str) -> bool:
    """Whether every read of a query in a statement returns the same rows, judging by its text."""
    return _TEXT.search(sql) is None


def is_repeatable(plan: str) -> bool:
    """The same, judging by the analyzed plan as Spark prints it."""
    return _PLAN.search(plan) is None and not is_chosen_by_clock(plan)


def is_chosen_by_clock(plan: str) -> bool:
    """Whether a filter or join of an analyzed plan, as Spark prints it, calls a clock."""
    return _CHOOSING_CLOCK.search(plan) is not None
