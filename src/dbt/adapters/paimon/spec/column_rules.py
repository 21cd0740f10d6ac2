"""Checks a table's columns: those in the config must exist and have a type that Paimon accepts.

Paimon reports some of this at CREATE TABLE, some when the first or second row of a key is written, some at the first
read. Here all of it is checked before any DDL, once Spark has analyzed the model's query. Sources: SchemaValidation,
the FieldAggregator classes and RowKindGenerator at release-0.9.0, 1.4.2 and 2.0.0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.component import Found
from dbt.adapters.paimon.spec.components import COMPONENTS, files
from dbt.adapters.paimon.spec.components.columns import column_fault
from dbt.adapters.paimon.spec.config_columns import among, hint, unknown_columns
from dbt.adapters.paimon.spec.config_origin import ConfigOrigin
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.spelling import named_columns, with_column_case
from dbt.adapters.paimon.spec.strategies import merges
from dbt.adapters.paimon.spec.table import TableSpec

# Config that must name columns of the query, because every row must have a value for them, or an order.
_GIVEN: Final = ("primary_key", "partition_by", "sequence.field", "rowkind.field")


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
    """Check a table's columns against the config that names them; ConfigErrors has all problems at once.

    Returns the table with its columns spelled as in `columns`, and with the options of `filterable`.

    Args:
        spec: the validated table.
        columns: (name, Spark type) of each column that the table will have.
        config: the model's config.
        model: name of the model, for messages.
        versions: the versions to check against.
        given: the columns of the model's query, if they differ from the table's.
        builds: whether the table is created, rather than written to.
        dropped: those of `columns` that are dropped after the rows are written.
    """
    types = dict(columns)
    if not versions.case_sensitive:
        spec = with_column_case(spec, types)
    problems, origin = Problems(model), ConfigOrigin(config)
    names = list(types) if given is None else given
    for where, reason in _missing_columns(spec, types, names, dropped, versions):
        problems.add(*origin.find(where, spec), reason)
    for key, reason in unknown_columns(
        config, names, table=list(types), case_sensitive=versions.case_sensitive, builds=builds
    ):
        problems.add(key, config.get(key), reason)
    for rule in (rule for component in COMPONENTS for rule in component.column_rules):
        for where, reason in rule(spec, types, versions):
            problems.add(*origin.find(where, spec), reason)
    merged = merges(spec, config)
    for name, data_type in types.items():
        if fault := column_fault(name, data_type, versions, merged):
            problems.add("column", name, fault)
    problems.raise_if_any()
    return files.filterable(spec, types, versions)


def _missing_columns(
    spec: TableSpec,
    types: Mapping[str, str],
    names: Sequence[str],
    dropped: Collection[str],
    versions: Versions,
) -> Found:
    for where, column in named_columns(spec):
        is_given = where not in _GIVEN or among(column, names, versions.case_sensitive)
        if column not in types or column in dropped or not is_given:
            known = types if is_given and column not in dropped else names
            yield where, f"the query has no column '{column}'. {hint(column, known)}"
