"""Converts rows of unit tests to SQL, with the same checks of values as for seeds."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.sql.data_types import TEXTS, typed_nulls
from dbt.adapters.paimon.sql.literals import is_nested, typed_value
from dbt.adapters.paimon.sql.plain_values import INTEGERS, surely_fits
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.writing import seed_values

# Strings that dbt's seed reader turns into NULL. If a `given` names a seed and no rows, dbt reads the seed's file.
_NULLS: Final = ("", "null")
_MAX_DIGITS: Final = 20


def row_sql(
    row: Mapping[str, Any], types: Mapping[str, str], fixture: str, check_values: bool = True
) -> dict[str, str]:
    """The SQL of each value of a row, in the order of the relation's columns.

    dbt compares `expect` rows by position, so the order must be the same in each.

    Args:
        fixture: the name of the fixture, for errors.
        check_values: whether to refuse values that Spark's casts would change.

    Raises:
        CompilationError: an unknown column, or a value that its integer type cannot hold.
    """
    values = {str(name).lower(): value for name, value in row.items()}
    for name in values:
        if name not in types:
            # dbt's own message.
            raise CompilationError(
                f"Invalid column name: '{name}' in unit test fixture for {fixture}.\n"
                f"Accepted columns for {fixture} are: {list(types)}"
            )
    return {
        # A view has the type void for NULL; no value could be cast to it.
        name: cell_sql(
            values[name], typed_nulls(data_type), f"unit test fixture for {fixture}: column {name}", check_values
        )
        for name, data_type in types.items()
        if name in values
    }


def check_names(row: Mapping[str, Any], first: Mapping[str, Any], test: str) -> None:
    """Refuse a row of `expect` whose columns differ from the first row's: dbt compares only the first row's."""
    names, wanted = ({str(name).lower() for name in each} for each in (row, first))
    if names != wanted:
        raise CompilationError(
            f"unit test '{test}': expect: one row has the columns {', '.join(sorted(names))}, a different one "
            f"{', '.join(sorted(wanted))}. Give each row the same columns, with null for a missing value."
        )


def cell_sql(value: Any, data_type: str, where: str, check_values: bool = True) -> str:
    """The SQL of one value. If values are checked, the statement fails if the type cannot hold the value.

    A string may be longer than its `varchar(n)`: dbt compares it untruncated.
    """

    def scalar(value: Any, kind: str) -> str:
        if is_nested(kind):
            return _expression(str(value), kind, where)
        text = _string(value, kind)
        if text.strip().lower() in _NULLS and not _is_string(kind):
            return f"cast(null as {kind})"
        if kind.strip().lower() in INTEGERS:
            return f"cast({_integer(text, kind, where)} as {kind})"
        return _checked(text, kind, where)

    return typed_value(value, data_type, scalar if check_values else None)


def _is_string(data_type: str) -> bool:
    return data_type.strip().lower().startswith((*TEXTS, "binary"))


def _expression(sql: str, data_type: str, where: str) -> str:
    """SQL that evaluates a nested value, and fails if the cast to its type would change an element."""
    # Compared as strings, because Spark cannot compare maps.
    same = f"cast(try_cast({sql} as {data_type}) as string) <=> cast(cast({sql} as {data_type}) as string)"
    fault = string_literal(_problem(sql, data_type, where))
    return f"if({same}, cast({sql} as {data_type}), raise_error({fault}))"


def _string(value: Any, data_type: str) -> str:
    if not isinstance(value, bool):
        return str(value)
    is_number = data_type.strip().lower().startswith((*INTEGERS, "decimal", "float", "double"))
    return str(int(value)) if is_number else str(value).lower()


def _integer(text: str, data_type: str, where: str) -> int:
    try:
        number = Decimal("nan" if "_" in text else text)
    except InvalidOperation:
        number = Decimal("nan")
    # An exponent may make the number too large to be written out.
    is_whole = number.is_finite() and number.adjusted() < _MAX_DIGITS and number == int(number)
    if not is_whole or int(number) not in INTEGERS[data_type.strip().lower()]:
        raise CompilationError(_problem(text, data_type, where))
    return int(number)


def _checked(text: str, data_type: str, where: str) -> str:
    kind, literal = data_type.strip().lower(), string_literal(text)
    cast = f"cast({literal} as {data_type})"
    if _is_string(kind) or surely_fits(text, kind):
        return cast
    bad = seed_values.bad_text(literal, data_type)
    return f"if({bad}, raise_error({string_literal(_problem(text, data_type, where))}), {cast})"


def _problem(text: str, data_type: str, where: str) -> str:
    return f"{where}: {text!r} is {seed_values.not_valid(data_type)}. Correct the value."
