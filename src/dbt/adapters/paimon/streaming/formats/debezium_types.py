"""SQL that converts values of Debezium messages to Spark's types: exactly, or to NULL.

A field's logical type defines what its JSON number or string means. It is in the schema that a message may include
(`name`), or in the YAML of the column (`meta: {semantic: …}`).

Sources: https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-data-types and
MySQL's; org.apache.kafka.connect.data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.streaming.formats.messages import DECIMAL_TYPE, SIZED_TEXT

DATES: Final = ("io.debezium.time.Date", "org.apache.kafka.connect.data.Date")
MILLIS: Final = ("io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp")
MICROS: Final = ("io.debezium.time.MicroTimestamp",)
NANOS: Final = ("io.debezium.time.NanoTimestamp",)
ZONED: Final = "io.debezium.time.ZonedTimestamp"
DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
VARIABLE_DECIMAL: Final = "io.debezium.data.VariableScaleDecimal"
# The logical types that the YAML may name for a column. Values of other types are converted by the declared type alone.
SEMANTICS: Final = (*DATES, *MILLIS, *MICROS, *NANOS, ZONED, DECIMAL, VARIABLE_DECIMAL)

# Spark's type -> `Target.kind`.
_SIMPLE_TYPES: Final = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    **dict.fromkeys(("float", "double"), "float"),
    "string": "text",
    **{name: name for name in ("boolean", "date", "timestamp", "timestamp_ntz", "binary")},
}
_ARRAY: Final = re.compile(r"array<(.*)>", re.DOTALL)

# Kafka Connect's types (org.apache.kafka.connect.data.Schema.Type, and Debezium's names for them) -> Spark's types.
_KINDS: Final = {
    "boolean": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "float32": "float",
    "double": "double",
    "float64": "double",
    "string": "string",
    "bytes": "binary",
}

_PLAIN: Final = string_literal(r"^[+-]?[0-9]+([.][0-9]+)?$")
_POINTED: Final = string_literal(r"^-?[0-9]+[.][0-9]+(E-?[0-9]+)?$")
_WHOLE: Final = string_literal(r"^-?[0-9]{1,19}$")
_DAY: Final = string_literal(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}Z?$")
# The pattern of a timestamp with at most six significant digits after the point. Without an offset, it is in UTC.
_CLOCK: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{0,6}0*)?)?"
_MOMENT: Final = string_literal(_CLOCK + r"(Z|[+-][0-9]{2}:[0-9]{2})$")
_UTC_CLOCK: Final = string_literal(_CLOCK + "$")
# The years 1 to 9999, which every reader of a table supports: in days and microseconds since 1970.
_DAYS: Final = "-719162 and 2932896"
_MICROS: Final = "-62135596800000000L and 253402300799999999L"
# Plausible scales of a decimal.
_SCALES: Final = "-100 and 1000"


class UnknownTypeError(ValueError):
    """A declared type to which values of messages cannot be converted."""


@dataclass(frozen=True)
class MessageValue:
    """A value in a message, as SQL expressions.

    Attributes:
        text: the value as a string; JSON for an object or an array.
        number: the value as a decimal of `Target.number_type`, rounded to its scale; or NULL.
        quoted: whether the value is in quotes in the message.
        as_written: whether the message contains `text`; false if Spark has reformatted a number as a double.
        semantic: the name of the value's logical type, or NULL.
        scale: the scale of a decimal in bytes, as a string, or NULL.
        item_semantic, item_scale: the same for the items of an array.
    """

    text: str
    number: str
    quoted: str
    as_written: str = "true"
    semantic: str = "null"
    scale: str = "null"
    item_semantic: str = "null"
    item_scale: str = "null"


@dataclass(frozen=True)
class Target:
    """A declared type.

    Attributes:
        kind: 'integer', 'float', 'decimal', 'text', 'array', or Spark's name of any other type.
        precision, scale: of a decimal; `precision` is also the length of a varchar.
    """

    kind: str
    data_type: str
    precision: int = 0
    scale: int = 0
    element: Target | None = None

    @property
    def number_type(self) -> str:
        """The decimal type with this type's digits before the decimal point, and as many as possible after it."""
        return f"decimal(38,{38 - (self.precision - self.scale)})"


def target(data_type: str) -> Target:
    """Parse a type that `data_types.type_text` returned; raises UnknownTypeError with the type to declare instead."""
    if kind := _SIMPLE_TYPES.get(data_type):
        return Target(kind, data_type)
    if found := DECIMAL_TYPE.fullmatch(data_type):
        return Target("decimal", data_type, int(found[1]), int(found[2]))
    if found := SIZED_TEXT.fullmatch(data_type):
        return Target("text", data_type, int(found[1]))
    if found := _ARRAY.fullmatch(data_type):
        return Target("array", data_type, element=target(found[1]))
    raise UnknownTypeError(
        f"values of change messages cannot be converted to '{data_type}'. Declare the column as "
        "string, which holds the value as text or JSON"
    )


def innermost(to: Target) -> Target:
    """The innermost element type of an array; any other type itself."""
    return innermost(to.element) if to.element else to


def value_sql(value: MessageValue, to: Target, semantic: str = "", scale: int | None = None) -> str:
    """SQL that converts a value to a declared type; NULL if the value does not fit.

    Args:
        semantic: the logical type in the YAML, for messages without schema; for an array, the type of its items.
        scale: the scale in the YAML, for a decimal that is sent as bytes.
    """
    if semantic:
        declared_scale = innermost(to).scale if scale is None else scale
        semantic, scale_text = string_literal(semantic), f"'{declared_scale}'"
        value = replace(
            value,
            semantic=f"coalesce({value.semantic}, {semantic})",
            scale=f"coalesce({value.scale}, {scale_text})",
            # For an array, the YAML names the type of its items.
            item_semantic=f"coalesce({value.item_semantic}, {semantic})",
            item_scale=f"coalesce({value.item_scale}, {scale_text})",
        )
    return _READERS[to.kind](value, to)


def spark_type_sql(field: str) -> str:
    """SQL for the name of the Spark type that can hold every value of a field in a message's schema."""
    precision = f"coalesce(int({field}.parameters['connect.decimal.precision']), 38)"
    scale = f"int({field}.parameters['scale'])"
    item = _simple_type_sql(f"{field}.items")
    return (
        f"case when {field}.name = {string_literal(DECIMAL)} "
        f"then if({precision} <= 38 and {scale} between 0 and {precision}, "
        f"concat('decimal(', {precision}, ',', {scale}, ')'), 'string') "
        f"when {field}.type = 'array' then coalesce(concat('array<', {item}, '>'), 'string') "
        f"else coalesce({_simple_type_sql(field)}, 'string') end"
    )


def _simple_type_sql(field: str) -> str:
    """SQL for the Spark type of a field; NULL if the field is a struct, an array or a map."""
    return (
        f"case when {field}.name in ({literals(DATES)}) then 'date' "
        f"when {field}.name in ({literals((*MILLIS, *MICROS))}) then 'timestamp_ntz' "
        f"when {field}.name = {string_literal(ZONED)} then 'timestamp' "
        f"when {field}.name in ({literals((DECIMAL, VARIABLE_DECIMAL))}) then 'string' "
        f"else case {field}.type {cases(_KINDS)} end end"
    )


def let(name: str, value: str, body: str) -> str:
    """SQL for the expression `body`, in which `name` stands for `value`."""
    return f"element_at(transform(array({value}), {name} -> {body}), 1)"


def _integer_sql(value: MessageValue, to: Target) -> str:
    return _number_sql(value, f"try_cast({value.text} as {to.data_type})", to, 0)


def _decimal_sql(value: MessageValue, to: Target) -> str:
    # Spark formats a number with a decimal point as a double; `number` has the digits that a double loses.
    fits = (
        f"d = {value.number} and if({value.text} rlike {_PLAIN}, {value.text} rlike {_at_most(to.scale)}, "
        f"double(d) = try_cast({value.text} as double))"
    )
    exact = let("d", f"try_cast({value.number} as {to.data_type})", f"if({fits}, d, null)")
    return _number_sql(value, exact, to, to.scale)


def _float_sql(value: MessageValue, to: Target) -> str:
    # A number that is too large becomes infinity, which may also be the value itself.
    is_infinite = f"abs(d) = double('infinity') and not {value.text} ilike '%inf%'"
    return _number_sql(
        value, let("d", f"try_cast({value.text} as {to.data_type})", f"if({is_infinite}, null, d)"), to, None
    )


def _number_sql(value: MessageValue, otherwise: str, to: Target, scale: int | None) -> str:
    """A number that may be sent as the bytes of a Decimal; `scale`: the type's digits after the decimal point."""
    fits = "true" if scale is None else f"t rlike {_at_most(scale)}"
    # An integer may be written with zeros after a decimal point.
    whole = "substring_index(t, '.', 1)" if scale == 0 else "t"
    decoded = let("t", _decimal_text(value), f"if({fits}, try_cast({whole} as {to.data_type}), null)")
    return f"if({_is_bytes(value)}, {decoded}, {otherwise})"


def _text_sql(value: MessageValue, to: Target) -> str:
    decimals = f"coalesce({value.semantic} in ({literals((DECIMAL, VARIABLE_DECIMAL))}), false)"
    is_changed = f"{value.text} rlike {_POINTED} and not {value.as_written}"
    text = (
        f"case when {decimals} and {_is_bytes(value)} then {_decimal_text(value)} "
        f"when not ({is_changed}) then {value.text} end"
    )
    if not to.precision:
        return text
    return let("t", text, f"if(char_length(t) <= {to.precision}, cast(t as {to.data_type}), null)")


def _boolean_sql(value: MessageValue, to: Target) -> str:
    return f"case {value.text} when 'true' then true when 'false' then false when '1' then true when '0' then false end"


def _date_sql(value: MessageValue, to: Target) -> str:
    # A number without a logical type can only be days since 1970.
    semantic = f"coalesce({value.semantic}, {string_literal(DATES[0])})"
    is_days = f"{value.text} rlike {_WHOLE} and {semantic} in ({literals(DATES)})"
    days = (
        f"case when {is_days} then try_cast({value.text} as int) "
        f"when {value.text} rlike {_DAY} then unix_date(try_cast(left({value.text}, 10) as date)) end"
    )
    return let("n", days, f"if(n between {_DAYS}, date_from_unix_date(n), null)")


def _timestamp_sql(value: MessageValue, to: Target) -> str:
    moment = "timestamp_micros(n)"
    if to.kind == "timestamp_ntz":
        # The clock time in UTC, whatever the session's time zone.
        since = "make_dt_interval(0, 0, 0, cast(cast(n as decimal(19,0)) * 0.000001 as decimal(18,6)))"
        moment = f"timestamp_ntz'1970-01-01 00:00:00' + {since}"
    return let("n", _micros_sql(value), f"if(n between {_MICROS}, {moment}, null)")


def _micros_sql(value: MessageValue) -> str:
    """Microseconds since 1970; a number needs a logical type, since it may be in milliseconds or microseconds."""
    number = f"try_cast({value.text} as bigint)"
    return (
        f"case when {value.text} rlike {_WHOLE} then case "
        f"when {value.semantic} in ({literals(MILLIS)}) then try_multiply({number}, 1000L) "
        f"when {value.semantic} in ({literals(MICROS)}) then {number} "
        f"when {value.semantic} in ({literals(NANOS)}) and {number} % 1000 = 0 then {number} div 1000 end "
        f"when {value.text} rlike {_MOMENT} then unix_micros(try_cast({value.text} as timestamp)) "
        f"when {value.text} rlike {_UTC_CLOCK} then unix_micros(try_cast(concat({value.text}, 'Z') as timestamp)) end"
    )


def _binary_sql(value: MessageValue, to: Target) -> str:
    return f"try_to_binary({value.text}, 'base64')"


def _array_sql(value: MessageValue, to: Target) -> str:
    assert to.element is not None
    # Each depth uses its own names: an inner array is read within the outer one's lambda.
    depth = to.data_type.count("array<")
    each, texts, values = f"e{depth}", f"t{depth}", f"v{depth}"
    number = f"try_cast({each} as {to.element.number_type})" if to.element.kind == "decimal" else "null"
    items = (value.item_semantic, value.item_scale)
    element = MessageValue(each, number, "true", "true", *items, *items)
    read = f"transform({texts}, {each} -> {value_sql(element, to.element)})"
    nulls = "size(filter({0}, e -> e is null))"
    whole = let(values, read, f"if({nulls.format(values)} = {nulls.format(texts)}, {values}, null)")
    array = f"from_json({value.text}, 'array<string>')"
    return f"if(startswith({value.text}, '['), {let(texts, array, whole)}, null)"


def _is_bytes(value: MessageValue) -> str:
    """Whether a number is sent as bytes; with `decimal.format=numeric`, Kafka's converter writes plain numbers."""
    return (
        f"(startswith({value.text}, '{{') or "
        f"coalesce({value.semantic} = {string_literal(DECIMAL)} and {value.quoted}, false))"
    )


def _decimal_text(value: MessageValue) -> str:
    """The digits of a decimal that is sent as bytes with a scale."""
    pair = let("o", f"from_json({value.text}, 'scale int, value string')", _with_point(_unscaled("o.value"), "o.scale"))
    alone = _with_point(_unscaled(value.text), f"try_cast({value.scale} as int)")
    return f"if(startswith({value.text}, '{{'), {pair}, {alone})"


def _unscaled(base64: str) -> str:
    """The integer in base64 bytes (big-endian two's complement), as a decimal(38,0); NULL if it is too long."""
    # A negative number is read as its bitwise complement n, and is -1 - n. Spark 4.1 computes -n in only 34 digits, and
    # fails at 1e38 even in try_add: so n is subtracted from -1, after a check for overflow.
    high, low = (f"cast(conv(substring(w, {begin}, 16), 16, 10) as decimal(20,0))" for begin in (1, 17))
    greatest = f"cast('{'9' * 38}' as decimal(38,0))"
    shifted = f"try_multiply({high}, cast('18446744073709551616' as decimal(20,0)))"
    amount = let("p", shifted, f"if(p <= {greatest} - {low}, p + {low}, null)")
    negative = f"if(n < {greatest}, cast(-1 as decimal(1,0)) - n, null)"
    signed = let("n", amount, f"if(h >= '8', {negative}, n)")
    wide = let("w", "lpad(m, 32, '0')", signed)
    flipped = "if(h >= '8', translate(h, '0123456789ABCDEF', 'FEDCBA9876543210'), h)"
    number = let("m", f"regexp_replace({flipped}, '^0+', '')", f"if(length(m) <= 32 and h <> '', {wide}, null)")
    return let("h", f"hex(try_to_binary({base64}, 'base64'))", number)


def _with_point(unscaled: str, scale: str) -> str:
    sign = "if(u < 0, '-', '')"
    shifted = (
        f"if(s <= 0, concat({sign}, d, repeat('0', -s)), concat({sign}, left(d, length(d) - s), '.', right(d, s)))"
    )
    # abs(u) is not used, because Spark 4.1 computes it in only 34 digits, too.
    plain = "replace(string(u), '-', '')"
    digits = let("d", f"lpad({plain}, greatest(length({plain}), s + 1), '0')", shifted)
    return let("u", unscaled, let("s", scale, f"if(s between {_SCALES}, {digits}, null)"))


def _at_most(scale: int) -> str:
    """The pattern of a number that fits a decimal of this scale without rounding."""
    return string_literal(rf"^[+-]?[0-9]+([.][0-9]{{0,{scale}}}0*)?$")


def literals(texts: Iterable[str]) -> str:
    """String literals, separated by commas."""
    return ", ".join(map(string_literal, texts))


def cases(values: Mapping[str, str]) -> str:
    """The branches of a CASE that maps strings to strings."""
    return " ".join(f"when {string_literal(key)} then {string_literal(text)}" for key, text in values.items())


_READERS: Final[Mapping[str, Callable[[MessageValue, Target], str]]] = {
    "integer": _integer_sql,
    "float": _float_sql,
    "decimal": _decimal_sql,
    "text": _text_sql,
    "array": _array_sql,
    "boolean": _boolean_sql,
    "date": _date_sql,
    "timestamp": _timestamp_sql,
    "timestamp_ntz": _timestamp_sql,
    "binary": _binary_sql,
}
