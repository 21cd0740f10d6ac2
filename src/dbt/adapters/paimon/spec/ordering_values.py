"""Refuses NaN in keys and sequences.

Paimon compares with `<` and `>`, where NaN is neither less nor greater: the row after a NaN wins, so of 7, NaN and 5 it
keeps 5 (UserDefinedSeqComparator). NaN in a primary key also breaks the order of the rows around it: their keys are
there twice, or not at all [ran, 0.9.0]. Most floating-point columns have no NaN, so values are checked, not types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.sql.type_trees import Array, Atom, Struct, TypeTree, type_tree

_FLOATING = ("float", "double")


def checked(columns: Sequence[PaimonColumn], spec: TableSpec, model: Mapping[str, Any]) -> str | None:
    """A SELECT list of the query's columns that fails if a key or sequence is or contains NaN; None if none can."""
    ordering = {name for group in spec.sequence_groups for name in group}
    ordering |= {*spec.columns_in("sequence.field"), *spec.primary_key}
    faulty = {
        column.name: condition
        for column in columns
        if column.name in ordering
        and (tree := type_tree(column.dtype)) is not None
        and (condition := _has_nan(column.quoted, tree))
    }
    if not faulty:
        return None
    return ", ".join(
        _checked(column, faulty[column.name], model, column.name in spec.primary_key)
        if column.name in faulty
        else column.quoted
        for column in columns
    )


def _has_nan(expression: str, tree: TypeTree, depth: int = 0) -> str:
    """The SQL condition that a value is or contains NaN; '' if its type has no NaN. A sequence is never a map."""
    if isinstance(tree, Atom):
        return f"isnan({expression})" if tree.name in _FLOATING else ""
    if isinstance(tree, Array):
        element = f"__dbt_{depth}"
        inner = _has_nan(element, tree.element, depth + 1)
        return f"exists({expression}, {element} -> {inner})" if inner else ""
    if isinstance(tree, Struct):
        fields = (_has_nan(f"{expression}.{quoted(name)}", kind, depth) for name, kind in tree.fields)
        found = list(filter(None, fields))
        return f"({' or '.join(found)})" if found else ""
    return ""


def _checked(column: PaimonColumn, has_nan: str, model: Mapping[str, Any], is_key: bool) -> str:
    verb = "is" if column.dtype in _FLOATING else "has a value that is"
    fault = string_literal(
        f"{model.get('resource_type', 'model')} '{model['name']}': the {'key' if is_key else 'sequence'} column "
        f"{column.name} {verb} NaN, which "
        "comes neither before nor after another value. Filter such rows out, or give another value, in the model."
    )
    return f"if({has_nan}, raise_error({fault}), {column.quoted}) as {column.quoted}"
