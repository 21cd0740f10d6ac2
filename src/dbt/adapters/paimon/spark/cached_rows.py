"""Makes the view of `CACHE TABLE … AS` give the cached rows, whatever its query calls.

Spark keeps the text of the query, and analyzes it anew for each statement that reads the view. `rand()`, `uuid()` and
samples get another seed each time; the plan is then not the cached one, and the query is run again [ran, 3.5.7]. With
this setting it keeps the plan.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_CACHES: Final = re.compile(
    r"(?:\s|/\*(?:(?!\*/).)*\*/)*cache\s+(?:lazy\s+)?table\s+\S+\s.*?\bas\b", re.IGNORECASE | re.DOTALL
)
_KEEPS_PLANS: Final = MappingProxyType({"spark.sql.legacy.storeAnalyzedPlanForView": "true"})
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def conf(statement: str) -> Mapping[str, str]:
    """The settings of Spark that a statement needs; none unless it caches the rows of a query."""
    return _KEEPS_PLANS if _CACHES.match(statement) else _NOTHING
