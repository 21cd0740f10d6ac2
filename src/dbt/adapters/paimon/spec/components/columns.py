"""The columns of any table: names and types that Paimon does not accept."""

from __future__ import annotations

import re
from typing import Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.sql.data_types import type_name

# Also within arrays, maps and structs.
_SIZED_TEXT: Final = re.compile(r"(?<!\w)(?:var)?char\(", re.IGNORECASE)


def column_fault(name: str, data_type: str, versions: Versions, merged: bool) -> str | None:
    """Why a table cannot have a column; `merged` if MERGE writes it. None if it can."""
    # `sql.names` checks names that no version accepts.
    if name == "rowkind" and versions.supports(Capability.ROWKIND_IS_PAIMONS_COLUMN):
        return "Paimon reserves this name. Give the column another alias in the model"
    if not is_attribute_name(name) and (missing := versions.explain(Capability.COLUMN_NAMES_OF_ANY_TEXT)):
        return missing
    if type_name(data_type) == "interval":
        # SparkTypeUtils.toPaimonType
        return f"Paimon has no type for {data_type}. Cast it, to string or to a number of seconds"
    missing = versions.explain(Capability.MERGE_ON_SIZED_TEXT)
    if merged and missing and _SIZED_TEXT.search(data_type):
        return f"is {data_type}. {missing}"
    return None


def is_attribute_name(name: str) -> bool:
    """Whether Spark can parse a column's name without quotes (CatalystSqlParser.parseAttributeName)."""
    return "`" not in name and all(name.split("."))
