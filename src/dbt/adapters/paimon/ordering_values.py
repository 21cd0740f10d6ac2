"""Values that order rows: a sequence has to be comparable.

Paimon compares with `<` and `>`, by which NaN is neither less nor greater than anything: whichever row comes after it
wins, and of 7, NaN and 5 the 5 stays (UserDefinedSeqComparator) [ran, 0.9.0]. Most floating sequences have no NaN, so
the rows are looked at and not the type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.sql_text import string_literal
from dbt.adapters.paimon.table_rules import split_columns
from dbt.adapters.paimon.table_spec import TableSpec

_FLOATING = ("float", "double")


def checked(columns: Sequence[PaimonColumn], spec: TableSpec, model: Mapping[str, Any]) -> str | None:
    """A SELECT list of a model's columns that fails on a sequence that is NaN; None where none can be.

    Args:
        columns: of the model's query.
        spec: the table, its columns named as the query spells them.
        model: the node, for messages.
    """
    ordering = {name for group in spec.sequence_groups for name in group}
    ordering |= set(split_columns(spec.options.get("sequence.field", "")))
    floating = {column.name for column in columns if column.name in ordering and column.dtype in _FLOATING}
    if not floating:
        return None
    return ", ".join(
        _checked(column, model) if column.name in floating else column.quoted for column in columns
    )


def _checked(column: PaimonColumn, model: Mapping[str, Any]) -> str:
    fault = string_literal(
        f"{model.get('resource_type', 'model')} '{model['name']}': the sequence column {column.name} is NaN, which "
        "comes neither before nor after another value. Filter such rows out, or give another value, in the model."
    )
    return f"if(isnan({column.quoted}), raise_error({fault}), {column.quoted}) as {column.quoted}"
