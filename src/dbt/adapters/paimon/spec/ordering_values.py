"""Refuses NaN in primary keys and sequence fields.

Paimon compares with `<` and `>`, for which NaN is neither less nor greater. So the row after a NaN wins: of 7, NaN and
5, Paimon keeps 5 (UserDefinedSeqComparator). In a primary key, NaN also breaks the order of nearby rows, whose keys are
then duplicated or lost [ran, 0.9.0]. Values are checked, not types: most floating-point columns contain no NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.data_types import FLOATS
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.sql.type_trees import Atom, TypeTree, any_part, type_tree


def select_list(columns: Sequence[PaimonColumn], spec: TableSpec, model: Mapping[str, Any]) -> str | None:
    """A SELECT list that raises an error for NaN in a key or sequence column; None if none is a float or double."""
    ordering = {name for group in spec.sequence_groups for name in group}
    ordering |= {*spec.columns_in("sequence.field"), *spec.primary_key}
    conditions = {
        column.name: condition
        for column in columns
        if column.name in ordering
        and (tree := type_tree(column.dtype)) is not None
        and (condition := any_part(column.quoted, tree, _is_nan))
    }
    if not conditions:
        return None
    return ", ".join(
        _column_sql(column, conditions[column.name], model, column.name in spec.primary_key)
        if column.name in conditions
        else column.quoted
        for column in columns
    )


def _is_nan(value: str, tree: TypeTree) -> str:
    return f"isnan({value})" if isinstance(tree, Atom) and tree.name in FLOATS else ""


def _column_sql(column: PaimonColumn, has_nan: str, model: Mapping[str, Any], is_key: bool) -> str:
    verb = "is" if column.dtype in FLOATS else "has a value that is"
    fault = string_literal(
        f"{model.get('resource_type', 'model')} '{model['name']}': the {'key' if is_key else 'sequence'} column "
        f"{column.name} {verb} NaN, which "
        "comes neither before nor after another value. Filter such rows out, or give another value, in the model."
    )
    return f"if({has_nan}, raise_error({fault}), {column.quoted}) as {column.quoted}"
