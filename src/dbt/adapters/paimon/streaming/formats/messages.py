"""SQL that turns JSON messages into rows, and explains why a message cannot be parsed.

Spark's own `from_json` is lenient: it takes the first of two objects, rounds decimals, lets a tinyint overflow, writes
12345678901234567890.1 as 1.2345678901234567E19 and drops unknown fields. Two ways to parse are strict:

- If `to_json` writes the same message from the row that `from_json` has read, nothing was lost: the message is exact.
- Any other message is marked: each JSON string gets the prefix `s`, and each number becomes a string with the prefix
  `n`. A map of strings then keeps every value as it was written, and 5 differs from "5". Marking takes more CPU time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from dbt.adapters.paimon.sql.plain_values import INTEGERS
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.sql.type_trees import TypeTree, any_part, type_tree
from dbt.adapters.paimon.streaming.descriptions import SourceColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The prefix of intermediate columns, which are dropped once a message is parsed.
SCRATCH: Final = "__tmp_"
# Columns that the stages add: why a message cannot be parsed, the row, and the fields that are not described.
PROBLEM: Final = "__problem"
ROW: Final = "__row"
UNDECLARED: Final = "__undeclared"
# The columns of a raw row that only a dead letter needs.
_OF_FAULTS: Final = ("key", "value", "place", "received_at")

# JSON as in RFC 8259: Spark accepts more.
_STRICT: Final = "'mode', 'PERMISSIVE', 'allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false'"
_OPTIONS: Final = f"map({_STRICT})"
# The row that `from_json` reads, the message that `to_json` writes from it, and whether it equals the original message.
_READ: Final = f"{SCRATCH}read"
_WRITTEN: Final = f"{SCRATCH}written"
_IS_EXACT: Final = f"{SCRATCH}is_exact"
_CORRUPT: Final = f"{SCRATCH}corrupt"
_OPTIONS_WITH_CORRUPT: Final = f"map({_STRICT}, 'columnNameOfCorruptRecord', '{_CORRUPT}')"
# Added after a message to recognize its end: in a marked message every key has a prefix, so no key is `end`.
_END: Final = '{"end":null}'

_NUMBER: Final = r"(?<![\w.+-])-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])"
# From the end of the last match to the next number, in JSON with marked strings. All quantifiers are possessive: others
# recurse in Java, and a long message would overflow the stack.
_UP_TO_NUMBER: Final = rf"""\G((?:[^"0-9-]++|"[^"]*+")*+)({_NUMBER})"""
_NUMERIC: Final = r"[+-]?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?"
_DATE: Final = r"[0-9]{4,6}-[0-9]{2}-[0-9]{2}"
_TIME: Final = r"[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6}0*)?)?"
_ZONE: Final = r" ?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_TIMES: Final = {
    "date": _DATE,
    "timestamp": f"{_DATE}(?:{_TIME}(?:{_ZONE})?)?",
    "timestamp_ntz": f"{_DATE}(?:{_TIME})?",
}
# A lone surrogate, which has no UTF-8 encoding.
_HALF_PAIR: Final = (
    r"(?i)\\u(?:d[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2}\\u)d[c-f][0-9a-f]{2})"
)
# The types that `from_json` reads from exact messages. It reads decimals as double and other types as string; the SQL
# then parses them.
_EXACT: Final = ("boolean", *INTEGERS, "float", "double", "string")
SIZED_TEXT: Final = re.compile(r"(?:var)?char\((\d+)\)")
DECIMAL_TYPE: Final = re.compile(r"decimal\((\d+),(\d+)\)")
# Nested types for which `from_json` accepts approximate values (group `type`); field names are skipped.
_LOSSY: Final = re.compile(r"`(?:[^`]|``)*`|(?P<type>\b(?:tinyint|date|decimal\((?P<p>\d+),(?P<s>\d+)\))(?!\w|:))")
_MOMENTS: Final = ("timestamp", "timestamp_ntz")
_MOMENT: Final = re.compile(r"`(?:[^`]|``)*`|(?P<moment>\btimestamp(?:_ntz)?\b(?!:))")
_TEXT_WITHIN: Final = re.compile(r"(?<!map<)\bstring\b(?!:)")


@dataclass(frozen=True)
class ValueFormat:
    """SQL over raw rows that parses the values of messages.

    Raw rows have `key` and `value` (binary), `place` (string), `received_at` (timestamp), and the source's columns.
    """

    # An SQL condition: whether a parsed raw row becomes a row of the table.
    is_row: ClassVar[str] = f"{PROBLEM} is null"
    column_type: ClassVar[type[SourceColumn]] = SourceColumn
    columns: tuple[SourceColumn, ...]

    def stages(self) -> Sequence[Sequence[str]]:
        """The expressions that each stage adds to the raw rows; a stage can use the columns of earlier stages."""
        raise NotImplementedError

    def rows_sql(self, raw: str, extra: Sequence[str]) -> str:
        """The query for the rows; `extra`: further columns of the raw rows, quoted."""
        items = [f"{ROW}.{quoted(column.name)} as {quoted(column.name)}" for column in self.columns]
        return f"select {', '.join([*items, *extra])} from {raw} where {self.is_row}"

    def faults_sql(self, raw: str) -> str:
        """The query for the messages that cannot be parsed, with FAULT_COLUMNS."""
        return f"select {PROBLEM} as reason, place, key, value, received_at from {raw} where {PROBLEM} is not null"

    def new_columns_sql(self, raw: str) -> str | None:
        """See `Input.new_columns_sql`."""
        return None

    def with_columns(self, columns: Mapping[str, str]) -> ValueFormat:
        """See `Input.with_columns`."""
        # A column that was described since then may have another case.
        known = {column.name.lower() for column in self.columns}
        added = (self.column_type(name, data_type) for name, data_type in columns.items() if name.lower() not in known)
        return replace(self, columns=(*self.columns, *added))


def parsed(frame: DataFrame, value_format: ValueFormat) -> DataFrame:
    """Raw rows with the columns that the stages of a format add. Only rows with a problem keep the message itself."""
    for stage in value_format.stages():
        frame = frame.selectExpr("*", *stage)
    # A batch is cached, and whole messages would fill the cache.
    cleared = {name: f"case when {PROBLEM} is not null then {name} end as {name}" for name in _OF_FAULTS}
    kept = (name for name in frame.columns if not name.startswith(SCRATCH))
    return frame.selectExpr(*(cleared.get(name, quoted(name)) for name in kept))


@dataclass(frozen=True)
class JsonMessages(ValueFormat):
    """The JSON format: the keys of an object are the columns of a row; a new column cannot have a `reserved` name."""

    reserved: tuple[str, ...] = ()

    def stages(self) -> Sequence[Sequence[str]]:
        steps = ("text", "marked", "both", "fields", "unknown")
        text, marked, both, fields, unknown = (f"{SCRATCH}{name}" for name in steps)
        names = _array(f"s{column.name}" for column in self.columns)
        values, typed = [], []
        for index, column in enumerate(self.columns):
            value = f"try_element_at({fields}, {string_literal('s' + column.name)})"
            type_ = value_sql(value_column(index), column, text)
            read, (kind, prefix) = f"{_READ}.{quoted(column.name)}", _read_as(column.data_type)
            if kind == column.data_type:
                type_ = f"case when {_IS_EXACT} then {read} else {type_} end"
            else:
                value = f"case when {_IS_EXACT} then concat('{prefix}', {read}) else {value} end"
            values.append(f"{value} as {value_column(index)}")
            typed.append(f"{type_} as {typed_column(index)}")
        return (
            (f"cast(value as string) as {text}",),
            (f"from_json({text}, {self._exact_schema()}, {_OPTIONS}) as {_READ}",),
            (f"to_json({_READ}) as {_WRITTEN}",),
            # Compared without spaces: `from_json` keeps spaces within strings, and accepts others only between values.
            (f"coalesce({_WRITTEN} <> '{{}}' and {_unspaced(_WRITTEN)} = {_unspaced(text)}, false) as {_IS_EXACT}",),
            (f"case when not {_IS_EXACT} then {marked_sql(text)} end as {marked}",),
            # An array of the message and `_END`; any other result means that the message is not one JSON object.
            (f"from_json(concat('[', {marked}, ',{_END}]'), 'array<map<string,string>>', {_OPTIONS}) as {both}",),
            (f"case when size({both}) = 2 and map_contains_key({both}[1], 'end') then {both}[0] end as {fields}",),
            (*values, f"array_except(map_keys({fields}), {names}) as {unknown}"),
            tuple(typed),
            (
                f"{self._problem(text, fields, unknown)} as {PROBLEM}",
                row_sql(self.columns),
                f"{self._undeclared(fields, unknown)} as {UNDECLARED}",
            ),
        )

    def new_columns_sql(self, raw: str) -> str | None:
        return (
            f"select min(field) as name, {guessed_type_sql('marked')} as data_type\n"
            f"from (select explode({UNDECLARED}) as (field, marked) from {raw} where {PROBLEM} is null)\n"
            "where marked is not null group by lower(field)"
        )

    def _exact_schema(self) -> str:
        return string_literal(", ".join(f"{quoted(each.name)} {_read_as(each.data_type)[0]}" for each in self.columns))

    def _problem(self, text: str, fields: str, unknown: str) -> str:
        keys = f"map_keys({fields})"
        twice = f"substr(filter({keys}, (k, i) -> array_position({keys}, k) <= i)[0], 2)"
        small = _array(f"s{column.name.lower()}" for column in self.columns)
        other = f"filter({unknown}, k -> array_contains({small}, lower(k)))"
        return f"""coalesce(case
  when {_IS_EXACT} then null
  when value is null then 'there is no value'
  when not {text} rlike '\\\\S' then 'the value is empty'
  when not {is_utf8_sql(text)} then 'not valid UTF-8'
  when contains({text}, '\\\\u') and {escaped_sql(text)} rlike {string_literal(_HALF_PAIR)}
    then 'half of a surrogate pair, which is not a character'
  when {fields} is null then 'not one JSON object'
  when size({keys}) <> size(array_distinct({keys})) then concat('a key occurs twice: ', {twice})
  when array_contains({unknown}, 's') then 'a key is empty'
  when size({unknown}) > 0 and size({other}) > 0
    then concat('the key ', substr({other}[0], 2), ' differs from a described column in upper and lower case')
  when size({unknown}) = size({keys}) then 'it has none of the described columns'
end, {problems_sql(self.columns)})"""

    def _undeclared(self, fields: str, unknown: str) -> str:
        small = _array(f"s{name.lower()}" for name in self.reserved)
        further = f"filter({unknown}, k -> not array_contains({small}, lower(k)))"
        taken = f"map_filter({fields}, (k, v) -> array_contains({further}, k))"
        keys = f"map_keys({fields})"
        # `transform_keys` fails on a key that occurs twice; such a message is not a row.
        has = f"size({further}) > 0 and size({keys}) = size(array_distinct({keys}))"
        return f"case when {has} then transform_keys({taken}, (k, v) -> substr(k, 2)) end"


def _read_as(data_type: str) -> tuple[str, str]:
    """The type that an exact message is read with, and the prefix of its value if that has to be parsed further."""
    if data_type in _EXACT:
        return data_type, ""
    return ("double", "n") if DECIMAL_TYPE.fullmatch(data_type) else ("string", "s")


def value_column(index: int) -> str:
    """The intermediate column with a column's marked value."""
    return f"{SCRATCH}value_{index}"


def typed_column(index: int) -> str:
    """The intermediate column with a column's typed value; NULL if the marked value does not fit."""
    return f"{SCRATCH}typed_{index}"


def row_sql(columns: Sequence[SourceColumn]) -> str:
    """The select item of the row, from the typed columns."""
    fields = (f"{string_literal(column.name)}, {typed_column(index)}" for index, column in enumerate(columns))
    return f"named_struct({', '.join(fields)}) as {ROW}"


def problems_sql(columns: Sequence[SourceColumn]) -> str:
    """SQL for the problems with the values of a row, as one string or NULL."""
    each = ",\n    ".join(_problem_sql(column, index) for index, column in enumerate(columns))
    return f"nullif(concat_ws('; ',\n    {each}), '')"


def is_utf8_sql(text: str) -> str:
    """Whether a binary value that was cast to a string is valid UTF-8."""
    # The pattern matches nothing, but regexp_replace converts to Java's strings, where invalid bytes become U+FFFD.
    return f"({text} = regexp_replace({text}, '(?!)', ''))"


def escaped_sql(text: str) -> str:
    r"""JSON with `\\` and `\"` in another notation: every remaining `"` begins or ends a string."""
    return rf"""replace(replace({text}, '\\\\', '\\u005c'), '\\"', '\\u0022')"""


def _unspaced(text: str) -> str:
    return f"replace({text}, ' ', '')"


def marked_sql(text: str) -> str:
    """JSON with each string prefixed by `s`, and each number as a string prefixed by `n`."""
    strings = f"""regexp_replace({escaped_sql(text)}, '"([^"]*+)"', '"s$1"')"""
    return f"""regexp_replace({strings}, {string_literal(_UP_TO_NUMBER)}, '$1"n$2"')"""


def unmarked_sql(marked: str) -> str:
    """Marked JSON turned back into JSON, without white space."""
    return (
        rf"""replace(replace(array_join(transform(split({escaped_sql(marked)}, '"'), (part, i) -> case """
        rf"""when i % 2 = 0 then part when startswith(part, 'n') then substr(part, 2) """
        rf"""else concat('"', substr(part, 2), '"') end), ''), '\\u0022', '\\"'), '\\u005c', '\\\\')"""
    )


def value_sql(marked: str, column: SourceColumn, text: str = "", *, untyped: bool = False) -> str:
    """A marked value converted to its column's type; NULL if it does not fit.

    Args:
        text: the SQL expression of the whole message, for nested types.
        untyped: whether numbers and booleans are strings, too, as in CSV.
    """
    data_type, own = column.data_type, f"substr({marked}, 2)"
    number, sign, written = "^n", "-?", marked
    if untyped:
        number, sign, written = "^[ns]", "[+-]?", f"regexp_replace(lower({marked}), '^s', '')"
    text_value = f"case when {marked} rlike '^[ns]' then {own} else {unmarked_sql(marked)} end"
    if data_type == "string":
        return text_value
    if length := SIZED_TEXT.fullmatch(data_type):
        return _if(f"char_length({text_value}) <= {length[1]}", text_value)
    if data_type == "boolean":
        return _if(f"{written} in ('true', 'false')", f"{written} = 'true'")
    if data_type in INTEGERS:
        return _if(_matches(marked, f"{number}{sign}[0-9]+$"), f"try_cast({own} as {data_type})")
    if decimal := DECIMAL_TYPE.fullmatch(data_type):
        return _decimal_sql(marked, int(decimal[1]), int(decimal[2]))
    if data_type in ("float", "double"):
        value = f"try_cast({own} as {data_type})"
        finite = f"{_matches(marked, f'{number}{_NUMERIC}$')} and abs({value}) < double('Infinity')"
        return _if(f"({finite}) or {marked} in ('sNaN', 'sInfinity', 's-Infinity')", value)
    if data_type == "binary":
        return _if(f"startswith({marked}, 's')", f"try_to_binary({own}, 'base64')")
    if data_type in _TIMES:
        return _if(_matches(marked, f"^s{_TIMES[data_type]}$"), f"try_cast({own} as {data_type})")
    return _nested_sql(marked, column, text)


def guessed_type_sql(marked: str) -> str:
    """An aggregate: the type of an undescribed column's marked values if it is certain, else `string`."""
    is_bigint = f"{_matches(marked, '^n-?[0-9]+$')} and try_cast(substr({marked}, 2) as bigint) is not null"
    # A double preserves up to 15 digits.
    is_double = f"startswith({marked}, 'n') and length(regexp_replace({marked}, '[eE].*|[^0-9]', '')) <= 15"
    is_double += f" and abs(try_cast(substr({marked}, 2) as double)) < double('Infinity')"
    return (
        f"case when bool_and({marked} in ('true', 'false')) then 'boolean' "
        f"when bool_and({is_bigint}) then 'bigint' when bool_and({is_double}) then 'double' else 'string' end"
    )


def _decimal_sql(marked: str, precision: int, scale: int) -> str:
    """SQL for a decimal; NULL if its type cannot hold all digits of the value."""
    own = f"substr({marked}, 2)"
    value = f"try_cast({own} as decimal({precision},{scale}))"
    wide = f"try_cast({own} as decimal(38,{38 - precision + scale}))"
    fraction = f"length(regexp_extract({marked}, '[.]([0-9]*?)0*$', 1)) <= {scale}"
    exact = f"if({marked} rlike '[eE]', {value} = {wide}, {fraction})"
    return _if(f"{_matches(marked, f'^[ns]{_NUMERIC}$')} and {exact}", value)


def _nested_sql(marked: str, column: SourceColumn, text: str) -> str:
    """Spark's own conversion, accepted only if nothing is lost."""
    own = string_literal(f"{quoted(column.name)} {column.data_type}, {_CORRUPT} string")
    read = f"from_json({text}, {own}, {_OPTIONS_WITH_CORRUPT})"
    value = f"{read}.{quoted(column.name)}"
    # A field that is not described, or occurs twice, is missing in the result, so the numbers of fields differ.
    whole = [f"{read}.{_CORRUPT} is null", f"{_fields_sql(marked)} = {_fields_sql(f'to_json({value})')}"]
    if column.data_type.startswith("map<"):
        keys = f"map_keys({value})"
        whole.append(f"size({keys}) = size(array_distinct({keys}))")
    wide = _LOSSY.sub(_wide_type, column.data_type)
    if wide != column.data_type:
        other = string_literal(f"{quoted(column.name)} {wide}")
        whole.append(
            f"to_json(cast({value} as {wide})) = to_json(from_json({text}, {other}, {_OPTIONS}).{quoted(column.name)})"
        )
    tree = type_tree(column.data_type)
    assert tree is not None, "the description of a source has only types that can be parsed"
    if too_large := any_part(value, tree, _is_infinite):
        whole.append(f"not coalesce({too_large}, false)")
    # `from_json` reads 5 as a timestamp, and 12:00 as a time of today. So the texts of all moments are read, too.
    texts = string_literal(f"{quoted(column.name)} {_MOMENT.sub(_as_text, column.data_type)}")
    if other := any_part(f"from_json({text}, {texts}, {_OPTIONS}).{quoted(column.name)}", tree, _is_no_moment):
        whole.append(f"not coalesce({other}, false)")
    if _TEXT_WITHIN.search(column.data_type):
        # If a number is described as string, `from_json` keeps only what a double can hold.
        whole.append(f"""not {_matches(marked, '"n-?(?=[0-9]*[.eE])(?:[^0-9"]*[0-9]){16}')}""")
    return _if(f"rlike({marked}, '^[\\\\[{{]') and " + " and ".join(whole), value)


def _is_infinite(value: str, tree: TypeTree) -> str:
    """Whether a number is infinite, because it was too large for its type."""
    return f"abs({value}) = double('Infinity')" if str(tree) in ("float", "double") else ""


def _is_no_moment(value: str, tree: TypeTree) -> str:
    """Whether the text of a nested timestamp is not as `_TIMES` describes."""
    return f"not {_matches(value, f'^{_TIMES[str(tree)]}$')}" if str(tree) in _MOMENTS else ""


def _as_text(found: re.Match[str]) -> str:
    return "string" if found["moment"] else found[0]


def _fields_sql(json: str) -> str:
    """The number of fields with a value in JSON, at any depth."""
    bare = f"""array_join(filter(split({escaped_sql(json)}, '"'), (part, i) -> i % 2 = 0), '')"""
    return f"size(split(replace({bare}, ':null', ''), ':'))"


def _wide_type(found: re.Match[str]) -> str:
    if found["p"]:
        return f"decimal(38,{38 - int(found['p']) + int(found['s'])})"
    return {"tinyint": "int", "date": "string"}.get(found["type"], found[0])


def _problem_sql(column: SourceColumn, index: int) -> str:
    marked, typed = value_column(index), typed_column(index)
    name = string_literal(f"{column.name}: ")
    own = f"substr({marked}, 2, 100)"
    shown = (
        f"""case when startswith({marked}, 's') then concat('"', {own}, '"') """
        f"when startswith({marked}, 'n') then {own} "
        f"else left({unmarked_sql(marked)}, 100) end"
    )
    misfit = string_literal(f" does not fit {column.data_type}")
    cases = [f"when {marked} is not null and {typed} is null then concat({name}, {shown}, {misfit})"]
    if not column.nullable:
        nothing = string_literal(f"{column.name}: there is no value, and the column is not_null")
        cases.append(f"when {marked} is null and {typed} is null then {nothing}")
    return f"case {' '.join(cases)} end"


def _array(texts: Iterable[str]) -> str:
    return f"array({', '.join(string_literal(text) for text in texts)})"


def _matches(marked: str, pattern: str) -> str:
    return f"({marked} rlike {string_literal(pattern)})"


def _if(condition: str, value: str) -> str:
    return f"case when {condition} then {value} end"
