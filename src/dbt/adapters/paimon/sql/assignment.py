"""Casts of query values to column types: which types fit, and SQL that converts a value without loss.

Paimon's INSERT and MERGE cast like Spark in non-ANSI mode, and match struct fields by position. Numbers silently
wrap around, decimals that are too large become NULL, and struct fields in a different order receive each other's
values (PaimonAnalysis.cast) [ran, 0.9.0]. So values are cast to the column's type before they are written.

The rule is Spark's `Cast.canUpCast`, but stricter: numbers do not fit timestamps or vice versa, struct fields are
matched by name, and a string must not be too long.
Source: org.apache.spark.sql.catalyst.expressions.Cast, org.apache.spark.sql.types.DecimalType (3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.sql.type_trees import Array, Atom, Map, Struct, TypeTree, parts_of

# In the order in which Spark up-casts them (Cast.numericPrecedence); some values may be rounded (see _ROUNDED).
_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "float", "double")
# DecimalType.forType: the precision for all values of the type.
_DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
# Up-casts that change some values, which casting back detects.
_ROUNDED: Final = {
    ("int", "float"),
    ("bigint", "float"),
    ("bigint", "double"),
    ("timestamp", "timestamp_ntz"),
    ("timestamp_ntz", "timestamp"),
}
# The largest value is rounded up when cast to float or double, and casting it back saturates to the largest value
# again. So the round trip does not detect this loss.
_SATURATED: Final = {"int": 2**31 - 1, "bigint": 2**63 - 1}
# Paimon itself casts values that were written before an ALTER. Unlike Spark, it formats timestamps with six
# fractional digits and in the JVM's time zone instead of the session's, formats decimals with all digits, and converts
# a date to midnight in the JVM's time zone [ran, 0.9.0].
_CAST_DIFFERENTLY: Final = {
    ("decimal", "string"),
    ("timestamp", "string"),
    ("timestamp_ntz", "string"),
    ("date", "timestamp"),
}
# Types that Spark casts to a string and back without loss.
_AS_STRING: Final = frozenset({*_NUMBERS, "decimal", "boolean", "binary", "date", "timestamp", "timestamp_ntz"})
_SIZED: Final = frozenset({"char", "varchar"})
# Types that have a precision here (unlike in Spark): the number of fractional-second digits that the column stores (see
# `data_types.kept_type`).
_TIMES: Final = frozenset({"timestamp", "timestamp_ntz"})


# Takes a reason and an SQL expression that shows the value, and returns SQL that fails with both.
Refuse = Callable[[str, str], str]


def misfits(source: TypeTree, target: TypeTree, field: str = "", lossless: bool = True) -> list[str]:
    """Why the type `source` does not fit a column of type `target`; `cast_sql` rejects single values that do not fit.

    `field` is the path within the column; '' for the column itself. Unless `lossless`, any cast of Spark is accepted
    for atomic types.
    """
    match source, target:
        case Atom("void"), _:
            return []
        case Atom() as has, Atom() as wants if not lossless or _atoms_fit(has, wants):
            return []
        case Array(has), Array(wants):
            return misfits(has, wants, f"{field}[]", lossless)
        case Map(key, value), Map(key_to, value_to):
            return [
                *misfits(key, key_to, f"{field}[key]", lossless),
                *misfits(value, value_to, f"{field}[value]", lossless),
            ]
        case Struct() as has, Struct() as wants:
            return _struct_misfits(has, wants, field, lossless)
    return [_misfit(field, f"{source} does not fit into {target} without loss")]


def _misfit(field: str, reason: str) -> str:
    return f"{field}: {reason}" if field else reason


def _struct_misfits(source: Struct, target: Struct, field: str, lossless: bool) -> list[str]:
    if source == target:
        return []
    has = {name.lower(): field_type for name, field_type in source.fields}
    wants = {name.lower(): field_type for name, field_type in target.fields}
    if len(has) < len(source.fields) or len(wants) < len(target.fields):
        return [_misfit(field, "fields whose names differ only in case cannot be distinguished")]
    found = [*_lacking(field, has, target, "query's", "table's"), *_lacking(field, wants, source, "table's", "query's")]
    for name, field_type in target.fields:
        if name.lower() in has:
            found += misfits(has[name.lower()], field_type, f"{field}.{name}", lossless)
    return found


def _lacking(field: str, has: Mapping[str, TypeTree], other: Struct, ours: str, theirs: str) -> Iterator[str]:
    if names := [name for name, _ in other.fields if name.lower() not in has]:
        yield _misfit(field, f"the {ours} struct lacks fields of the {theirs} struct: {', '.join(names)}")


def _atoms_fit(source: Atom, target: Atom) -> bool:
    """Cast.canUpCast for atomic types, but not between timestamps and numbers."""
    target = _declared_atom(target)
    if source == target:
        return True
    if target.name == "string" or target.name in _SIZED:
        return source.name in _AS_STRING or source.name in ("string", *_SIZED)
    if source.name == "date":
        return target.name in ("timestamp", "timestamp_ntz")
    if {source.name, target.name} == {"timestamp", "timestamp_ntz"}:
        return True
    if source.name in _NUMBERS and target.name in _NUMBERS:
        return _NUMBERS.index(source.name) < _NUMBERS.index(target.name)
    return _decimals_fit(source, target)


def _decimals_fit(source: Atom, target: Atom) -> bool:
    if source.name == "decimal" and target.name in _DIGITS:
        precision, scale = source.arguments
        # The largest bigint has 19 digits, but not every number of 19 digits fits into a bigint.
        return scale == 0 and precision < min(_DIGITS[target.name], 19)
    if target.name != "decimal" or not (source.name == "decimal" or source.name in _DIGITS):
        return False
    precision, scale = source.arguments if source.name == "decimal" else (_DIGITS[source.name], 0)
    wanted_precision, wanted_scale = target.arguments
    return wanted_scale >= scale and wanted_precision - wanted_scale >= precision - scale


def can_alter_type(old: TypeTree, new: TypeTree) -> bool:
    """Whether ALTER may change a column from `old` to `new`.

    True only for atomic types, and only if Paimon casts existing values as Spark does and without loss.
    """
    if not isinstance(old, Atom) or not isinstance(new, Atom):
        return False
    if (old.name, new.name) in _ROUNDED | _CAST_DIFFERENTLY:
        return False
    if new.name in _SIZED:
        return old.name == new.name == "varchar" and new.arguments >= old.arguments
    return _atoms_fit(old, new)


def cast_sql(
    expression: str, source: TypeTree, target: TypeTree, refuse: Refuse, depth: int = 0, lossless: bool = True
) -> str:
    """SQL that converts a value to its column's type; `expression` itself if no change is needed. NULL stays NULL.

    Args:
        expression: SQL for the value: a name or a path, because it may be repeated.
        source, target: the types of the value and of the column; `source` must fit `target` (see `misfits`).
        refuse: returns SQL that fails for a value that does not fit `target`.
        lossless: if False, Spark's cast is used without a check, except for strings that are too long.
    """
    name = f"__dbt_{depth}"
    match source, target:
        case Atom("void"), _:
            return f"cast({expression} as {_declared(target)})"
        case Atom() as has, Atom() as wants:
            return _atom_sql(expression, has, wants, refuse, lossless)
        case Array(has), Array(wants):
            element = cast_sql(name, has, wants, refuse, depth + 1, lossless)
            return expression if element == name else f"transform({expression}, {name} -> {element})"
        case Map(key_from, value_from), Map(key_to, value_to):
            key_name, value_name = f"{name}_key", f"{name}_value"
            key = cast_sql(key_name, key_from, key_to, refuse, depth + 1, lossless)
            value = cast_sql(value_name, value_from, value_to, refuse, depth + 1, lossless)
            if value != value_name:
                expression = f"transform_values({expression}, ({key_name}, {value_name}) -> {value})"
            if key != key_name:
                expression = f"transform_keys({expression}, ({key_name}, {value_name}) -> {key})"
            return expression
        case Struct() as has, Struct() as wants:
            return _struct_sql(expression, has, wants, refuse, depth, lossless)
    raise AssertionError(f"{source} does not fit {target}")


def _struct_sql(expression: str, source: Struct, target: Struct, refuse: Refuse, depth: int, lossless: bool) -> str:
    given = {name.lower(): (name, field_type) for name, field_type in source.fields}
    same_order = [name.lower() for name, _ in target.fields] == list(given)
    if source == target and not _has_sizes(target):
        return expression
    fields, changed = [], not same_order
    for name, field_type in target.fields:
        written, has = given[name.lower()]
        path = f"{expression}.{quoted(written)}"
        value = cast_sql(path, has, field_type, refuse, depth, lossless)
        changed = changed or value != path
        fields.append(f"{string_literal(name)}, {value}")
    return f"if({expression} is null, null, named_struct({', '.join(fields)}))" if changed else expression


def _declared(tree: TypeTree) -> TypeTree:
    """The type in a form that Spark's DDL accepts."""
    if isinstance(tree, Atom):
        return _declared_atom(tree)
    if isinstance(tree, Array):
        return Array(_declared(tree.element))
    if isinstance(tree, Map):
        return Map(_declared(tree.key), _declared(tree.value))
    return Struct(tuple((name, _declared(field_type)) for name, field_type in tree.fields))


def _declared_atom(atom: Atom) -> Atom:
    return Atom(atom.name) if atom.name in _TIMES else atom


def _has_sizes(tree: TypeTree) -> bool:
    return any(isinstance(part, Atom) and part.name in _SIZED for part in parts_of(tree))


def _atom_sql(expression: str, source: Atom, target: Atom, refuse: Refuse, lossless: bool) -> str:
    if target.name in _SIZED:
        text = expression if source.name in ("string", *_SIZED) else f"cast({expression} as string)"
        return _char_sql(text, target, refuse)
    if target.name in _TIMES and target.arguments and lossless:
        return _timestamp_sql(expression, source, target, refuse)
    target = _declared_atom(target)
    if source == target:
        return expression
    cast = f"cast({expression} as {target})"
    if not lossless or (source.name, target.name) not in _ROUNDED:
        return cast
    same = f"try_cast({cast} as {source}) = {expression}"
    if source.name in _SATURATED:
        same = f"{expression} <> {_SATURATED[source.name]} and {same}"
    refused = refuse(f"{target} cannot represent this {source} exactly", f"cast({expression} as string)")
    return f"case when {expression} is null or ({same}) then {cast} else {refused} end"


def _timestamp_sql(expression: str, source: Atom, target: Atom, refuse: Refuse) -> str:
    (digits,) = target.arguments
    value = _atom_sql(expression, source, _declared_atom(target), refuse, lossless=True)
    whole = f"date_format({value}, 'SSSSSS') like '%{'0' * (6 - digits)}'"
    refused = refuse(f"{target} stores only {digits} fractional-second digits", f"cast({value} as string)")
    return f"case when {expression} is null or {whole} then {value} else {refused} end"


def _char_sql(text: str, target: Atom, refuse: Refuse) -> str:
    # Trailing spaces do not count, because a char(n) is padded with them.
    (size,) = target.arguments
    length, value = f"length({text})", text
    if target.name == "char":
        length, value = f"length(rtrim({text}))", f"rpad({text}, {size}, ' ')"
    refused = refuse(f"the string is longer than {size} characters", text)
    return f"case when {length} > {size} then {refused} else {value} end"
