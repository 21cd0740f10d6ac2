"""Checks a table's columns: those in the config must exist and have a type that Paimon accepts.

Paimon reports some of these errors only when it writes or reads rows. Here all are checked before any DDL, after Spark
has analyzed the query. Sources: SchemaValidation, the FieldAggregator classes and RowKindGenerator at release-0.9.0,
1.4.2 and 2.0.0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec.component import Found
from dbt.adapters.paimon.spec.components import COMPONENTS, files
from dbt.adapters.paimon.spec.config_columns import hint, unknown_columns
from dbt.adapters.paimon.spec.config_origin import ConfigOrigin
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.spelling import has_column, named_columns, with_column_case
from dbt.adapters.paimon.spec.strategies import late_rows, merges
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.data_types import type_name

# Config whose columns the query must return, because every row needs values for them.
_MUST_BE_GIVEN: Final = ("primary_key", "partition_by", "sequence.field", "rowkind.field")
# Also matches char and varchar inside arrays, maps and structs.
_VARCHAR: Final = re.compile(r"(?<!\w)varchar\(", re.IGNORECASE)
_CHAR: Final = re.compile(r"(?<!\w)char\(", re.IGNORECASE)


def check_columns(
    spec: TableSpec,
    columns: Sequence[tuple[str, str]],
    *,
    config: Mapping[str, Any],
    model: str,
    versions: Versions,
    given: Sequence[str] | None = None,
    builds: bool = False,
    dropped: Collection[str] = (),
) -> TableSpec:
    """Check a table's columns against the config that names them; raises ConfigErrors with all problems.

    Returns the table with columns spelled as in `columns`, and with the options of `filterable`.

    Args:
        spec: the validated table.
        columns: (name, Spark type) of each column that the table will have.
        model: the model's name, for messages.
        given: the columns of the model's query, if they differ from the table's.
        builds: whether the run writes all rows of the table, so that it does not match rows by unique_key.
        dropped: columns that are dropped after the rows are written.
    """
    types = dict(columns)
    if not versions.case_sensitive:
        spec = with_column_case(spec, types)
    problems, origin = Problems(model), ConfigOrigin(config)
    names = list(types) if given is None else given
    origin.report(problems, spec, _missing_columns(spec, types, names, dropped, versions))
    for key, reason in unknown_columns(
        config, names, table=list(types), case_sensitive=versions.case_sensitive, builds=builds
    ):
        problems.add(key, config.get(key), reason)
    for rule in (rule for component in COMPONENTS for rule in component.column_rules):
        origin.report(problems, spec, rule(spec, types, versions))
    merged = merges(spec, config)
    for key, reason in late_rows(spec, config, names) if merged else ():
        problems.add(key, config.get(key), reason)
    for name, data_type in types.items():
        if fault := _column_fault(name, data_type, versions, merged):
            problems.add("column", name, fault)
    problems.raise_if_any()
    return files.filterable(spec, types, versions)


def _missing_columns(
    spec: TableSpec, types: Mapping[str, str], names: Sequence[str], dropped: Collection[str], versions: Versions
) -> Found:
    for where, column in named_columns(spec):
        is_given = where not in _MUST_BE_GIVEN or has_column(column, names, versions.case_sensitive)
        if column not in types or column in dropped or not is_given:
            known = types if is_given and column not in dropped else names
            yield where, f"the query has no column '{column}'. {hint(column, known)}"


def _column_fault(name: str, data_type: str, versions: Versions, merged: bool) -> str | None:
    # `sql.names` refuses the names that no version accepts.
    if name == "rowkind" and versions.supports(Capability.ROWKIND_IS_PAIMONS_COLUMN):
        return "Paimon reserves this name. Give the column another alias in the model"
    if not is_attribute_name(name) and (missing := versions.explain(Capability.COLUMN_NAMES_OF_ANY_TEXT)):
        return missing
    if type_name(data_type) == "interval":
        # SparkTypeUtils.toPaimonType
        return f"Paimon has no type for {data_type}. Cast it, to string or to a number of seconds"
    if " collate " in data_type.lower():
        # The same: every string is a STRING.
        return f"Paimon does not store the collation of {data_type}. Cast it to string"
    for pattern, needed in ((_VARCHAR, Capability.MERGE_ON_VARCHAR), (_CHAR, Capability.MERGE_ON_CHAR)):
        missing = versions.explain(needed)
        if merged and missing and pattern.search(data_type):
            return f"is {data_type}. {missing}"
    return None


def is_attribute_name(name: str) -> bool:
    """Whether Spark can parse a column's name without quotes (CatalystSqlParser.parseAttributeName)."""
    return "`" not in name and all(name.split("."))
