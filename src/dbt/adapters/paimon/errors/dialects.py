"""SQL of other dialects that Spark rejects, and how to write it in Spark SQL.

For every entry, tests/functional/dialects runs a query that fails on Spark 3.5, and checks the error for the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from dbt.adapters.paimon.errors import places

UNRESOLVED_ROUTINE: Final = re.compile(r"\[UNRESOLVED_ROUTINE\] Cannot resolve (?:function|routine) `(\w+)`")
_TYPE: Final = re.compile(
    r'(?:Unsupported data type "|\[DATATYPE_MISSING_SIZE\] DataType "|\[UNSUPPORTED_TIME_TYPE\] The data type )(\w+)'
)
# An opening parenthesis that is not closed yet, and the arguments after it.
_OPEN: Final = r"\s*\((?:[^()]|\([^()]*\))*$"


@dataclass(frozen=True)
class DialectHint:
    """A known failure. `advice` continues the sentence "In Spark SQL: …".

    `error` is a pattern to find in Spark's message; `before` and `after` are patterns for the SQL around the error's
    position, or for '' if the error has no position. `before` must end with `$`; `after` is matched from the position.
    """

    error: str
    advice: str
    before: str = ""
    after: str = ""

    def matches(self, text: str, before: str, after: str) -> bool:
        """Whether this failure has occurred."""
        return (
            re.search(self.error, text) is not None
            and re.search(self.before, before, re.IGNORECASE | re.DOTALL) is not None
            and re.match(self.after, after, re.IGNORECASE | re.DOTALL) is not None
        )


_syntax_hint: Final = partial(DialectHint, r"\[PARSE_SYNTAX_ERROR\]")
_column_hint: Final = partial(DialectHint, r"\[UNRESOLVED_COLUMN")

_EXTRA_COMMA: Final = "remove the extra comma"
_COMMA_BEFORE_FROM: Final = "remove the comma before FROM"
_SLASHES: Final = "a comment begins with --, not `//`, and integer division is `div`"
_TABLE_HINT: Final = "remove the table hint: Spark has no WITH (NOLOCK)"
_LIST_AGGREGATE: Final = "array_join(collect_list(x), ','), or `{{ dbt.listagg(…) }}`"
_JSON: Final = "get_json_object(text, '$.a'), or from_json(text, 'a int')"
_TRUNCATE: Final = "cast(x as bigint), or cast(x * 10 as bigint) / 10 for one digit"
_EXPLODE: Final = (
    "`select explode(array) …` or `from t lateral view explode(array) e as x` for the rows of an array, "
    "and explode(sequence(1, 3)) or range(1, 4) for a series"
)
_PATTERN: Final = "with Java's pattern letters, as in 'yyyy-MM-dd HH:mm:ss'"
_FORMAT_TIMESTAMP: Final = f"date_format(ts, …), {_PATTERN}"
_UNIT: Final = r"'?(?:year|quarter|month|week|day|hour|minute|second)"

HINTS: Final[tuple[DialectHint, ...]] = (
    _syntax_hint(
        "OPTIMIZE and VACUUM are Delta commands; for Paimon tables use the `maintenance` config, which compacts files "
        "and expires snapshots",
        before=r"^\s*(/\*.*?\*/\s*)?$",
        after=r"(optimize|vacuum)\b",
    ),
    _syntax_hint("write `x::type` as cast(x as type), or as try_cast(x as type)", after="::"),
    _syntax_hint(f"for `x:a` use {_JSON}", after=r":\w"),
    _syntax_hint("names are quoted in backticks, `x`; double quotes make a string", after='"'),
    _syntax_hint("aliases are quoted in backticks, `x`", before=r"\bas\s+$", after="'"),
    _syntax_hint(
        "for QUALIFY use a subquery: select … from (select …, row_number() over (…) as n from …) where n = 1",
        before=r"\bqualify\s+$",
    ),
    _syntax_hint("for TOP n use limit n at the end", before=r"\bselect\s+(distinct\s+)?top\s+$"),
    _syntax_hint(
        "for WITHIN GROUP sort first: array_join(array_sort(collect_list(x)), ','), or use `{{ dbt.listagg(…) }}`",
        before=r"\bwithin group\s*$",
    ),
    _syntax_hint(
        "for ORDER BY inside an aggregate use sort_array(collect_list(struct(key, x))).x",
        before=r"\w" + _OPEN,
        after=r"order\s+by\b",
    ),
    _syntax_hint("write `limit m, n` as limit n offset m", before=r"\blimit\s+\d+\s*$", after=","),
    _syntax_hint("write `offset m rows` as offset m, after limit", before=r"\boffset\s+\d+\s+$", after=r"rows?\b"),
    _syntax_hint("write `fetch first n rows` as limit n", before=r"\bfetch\s+$", after=r"(first|next)\b"),
    _syntax_hint(f"for `->>` use {_JSON}", before=r"->$", after=">"),
    DialectHint(r"\[INTERNAL_ERROR\].*lambdafunction", f"for `->` use {_JSON}"),
    _syntax_hint(
        "for `* exclude`, `* except` and `* replace` list the columns, or use "
        "dbt_utils.star(from=ref('x'), except=['id'])",
        before=r"\*\s*(exclude|except|replace|rename)\s*\(?\s*$",
    ),
    _syntax_hint(
        "for a temporary table use materialized='ephemeral', or create temporary view",
        before=r"\btemp(orary)?\s+$",
        after="table",
    ),
    _syntax_hint("for safe_cast use try_cast(x as type)", before=r"\bsafe_cast" + _OPEN, after=r"as\b"),
    _syntax_hint("write `double precision` as double", before=r"\bdouble\s+$", after="precision"),
    _syntax_hint("write `array[1, 2]` as array(1, 2)", before=r"\barray\s*\[[^\]]*$"),
    _syntax_hint("names are quoted in backticks, `x`, not in brackets; an array is array(1, 2)", after=r"\["),
    _syntax_hint("for `~` use rlike, and for `~*` rlike with '(?i)…'", after="~"),
    _syntax_hint("for SIMILAR TO use rlike", after=r"similar\s+to\b"),
    _syntax_hint(
        "for time travel use {{ at(ref('x'), timestamp='…') }}, or x timestamp as of '…'",
        before=r"\b(at|before)\s*\(\s*\w+\s*$",
        after="=>",
    ),
    _syntax_hint(
        "for AT TIME ZONE use from_utc_timestamp(ts, zone), or convert_timezone(from, to, ts)",
        before=r"\bat\s+$",
        after=r"time\s+zone\b",
    ),
    _syntax_hint("a comment begins with --, not `#`", after="#"),
    _syntax_hint(_SLASHES, before=r"(?<!/)$", after="//"),
    _syntax_hint(_SLASHES, before="/$", after="/"),
    _syntax_hint("write `$$text$$` as r'text'", after=r"\$\$"),
    _syntax_hint("for SAMPLE use tablesample (10 percent)", before=r"\bsample\s*\(\s*$"),
    _syntax_hint(
        "Spark 3.5 has no recursion; use explode(sequence(…)) for a series, or a loop in a Python model",
        before=r"\bwith\s+recursive\s+$",
    ),
    _syntax_hint("write `x in unnest(array)` as array_contains(array, x)", after=r"in\s+unnest\b"),
    _syntax_hint("for COLLATE compare lower(x), or use ilike", after=r"collate\b"),
    _syntax_hint(
        "for UNION BY NAME list the columns in the same order on both sides",
        before=r"\bunion(\s+all)?\s+$",
        after=r"by\s+name\b",
    ),
    _syntax_hint(
        "IGNORE NULLS goes after the parenthesis: first_value(x) ignore nulls over (…)",
        before=r"\w" + _OPEN,
        after=r"ignore\s+nulls",
    ),
    _syntax_hint("for ASOF JOIN join on <= and keep the last row with row_number()", after=r"asof\b"),
    _syntax_hint("for {…} use named_struct('a', 1), or map('a', 1)", after=r"\{"),
    _syntax_hint(_EXTRA_COMMA, before=r",\s*$", after=","),
    # After a comma, Spark takes FROM for a column, and the first part of the table's name for the column's alias.
    _syntax_hint(_COMMA_BEFORE_FROM, before=r",\s*from\s+`[^`]+`$", after=r"\."),
    _column_hint(_COMMA_BEFORE_FROM, after=r"\w+,\s*from\b"),
    _column_hint(
        "the unit is a string and comes first: date_trunc('month', ts)",
        before=r"\bdate_trunc" + _OPEN,
        after=rf"{_UNIT}\b",
    ),
    _column_hint("for epoch_second use unix_timestamp(ts)", before=r"\bdate_?part" + _OPEN, after=r"epoch\w*"),
    _column_hint("the unit is a string: date_part('year', ts)", before=r"\bdate_?part" + _OPEN, after=rf"{_UNIT}\b"),
    _column_hint(
        "last_day(date) takes no unit; for a year use trunc(date, 'year') + interval 1 year - interval 1 day",
        before=r"\blast_day" + _OPEN,
        after=rf"{_UNIT}\b",
    ),
    _column_hint(
        "use {{ dbt.datediff('a', 'b', 'day') }}, or datediff(day, a, b), which counts whole days",
        before=r"\bdate_?diff" + _OPEN,
        after=rf"{_UNIT}\b",
    ),
    _column_hint(f"use {_EXPLODE}", before=r"\b(unnest|flatten)" + _OPEN),
    _column_hint("use current_timestamp()", after=r"(sysdate|systimestamp|localtimestamp|getdate)\b"),
    DialectHint("does not support table-valued functions", f"use {_EXPLODE}"),
    DialectHint("expects one of the units without quotes", "the unit is written without quotes: dateadd(day, 1, ts)"),
    DialectHint(r'Cannot resolve "date_(add|sub)\(.*INTERVAL', "use ts + interval 1 day, or date_add(date, 1)"),
    DialectHint(r'Cannot resolve "to_char\(', f"use {_FORMAT_TIMESTAMP}"),
    DialectHint(r'Cannot resolve "trunc\(.*requires the "DATE"', f"for trunc of a number use {_TRUNCATE}"),
    DialectHint(r'Cannot resolve "any\(.*"BOOLEAN"', "write `x = any (array)` as array_contains(array, x)"),
    DialectHint(r"Fail to recognize '.*' pattern in the DateTimeFormatter", f"write the pattern {_PATTERN}"),
    DialectHint(r"The `(try_)?to_number` requires", "for to_number(x) use cast(x as decimal(18, 2)), or try_cast"),
    DialectHint(r"The `to_varchar` requires", f"for to_varchar(x) use cast(x as string), or {_FORMAT_TIMESTAMP}"),
    DialectHint(r"The `trunc` requires", "for trunc(x) of a number use cast(x as bigint)"),
    DialectHint(r"The `date` requires", "for date(y, m, d) use make_date(y, m, d)"),
    DialectHint(r"The `isnull` requires", "for isnull(x, y) use coalesce(x, y)"),
    DialectHint(r"Cannot extract `epoch`", "for extract(epoch from ts) use unix_timestamp(ts)"),
    DialectHint(r"Cannot extract `isodow`", "for extract(isodow from ts) use extract(dayofweek_iso from ts)"),
    DialectHint(
        r"Cannot mix year-month and day-time fields", "use separate intervals: ts + interval 1 month + interval 2 days"
    ),
    DialectHint(r'Literals of the type "E"', "for E'…' use '…', in which Spark already interprets escapes such as \\n"),
    DialectHint(r'Literals of the type "B"', "for b'…' use X'…' with its bytes in hex, or encode('…', 'utf-8')"),
    DialectHint("Number of column aliases does not match", _TABLE_HINT, after=r".*\bwith\s*\(\s*nolock"),
    # Spark 4 has syntax of its own that looks like these two: options of a scan, and fields of a variant.
    DialectHint(r"Values must be specified for key\(s\): \[nolock\]", _TABLE_HINT),
    DialectHint("COLUMN_IS_NOT_VARIANT_TYPE", f"for `x:a` use {_JSON}"),
)

# Functions of other dialects, each with Spark's equivalent.
FUNCTIONS: Final[Mapping[str, str]] = {
    "approx_quantiles": "approx_percentile(x, array(0.25, 0.5, 0.75))",
    "arg_max": "max_by(x, key)",
    "arg_min": "min_by(x, key)",
    "array_construct": "array(1, 2)",
    "array_length": "size(array)",
    "array_to_string": "array_join(array, ',')",
    "arrayagg": "collect_list(x), or sort_array(collect_list(x))",
    "bitand": "x & y",
    "booland_agg": "bool_and(x)",
    "boolor_agg": "bool_or(x)",
    "charindex": "locate(part, text)",
    "convert": "cast(x as type)",
    "countif": "count_if(x)",
    "current_datetime": "current_timestamp()",
    "date_from_parts": "make_date(y, m, d)",
    "datetime": "timestamp(x)",
    "datetime_diff": "timestampdiff(day, a, b)",
    "datetime_trunc": "date_trunc('day', ts)",
    "dayname": "date_format(date, 'EEE')",
    "dayofweekiso": "extract(dayofweek_iso from date)",
    "div0": "coalesce(try_divide(x, y), 0)",
    "div0null": "if(coalesce(y, 0) = 0, 0, x / y)",
    "ends_with": "endswith(text, end)",
    "farm_fingerprint": "xxhash64(x)",
    "format_date": f"date_format(date, …), {_PATTERN}",
    "format_timestamp": _FORMAT_TIMESTAMP,
    "gen_random_uuid": "uuid()",
    "generate_series": _EXPLODE,
    "generate_uuid": "uuid()",
    "generator": "range(3)",
    "get_path": _JSON,
    "getdate": "current_timestamp()",
    "group_concat": _LIST_AGGREGATE,
    "iff": "if(x, y, z)",
    "iif": "if(x, y, z)",
    "json_extract": _JSON,
    "json_extract_path_text": _JSON,
    "json_extract_scalar": _JSON,
    "json_value": _JSON,
    "list_aggregate": "aggregate(array, 0, (a, x) -> a + x)",
    "listagg": _LIST_AGGREGATE,
    "logical_and": "bool_and(x)",
    "logical_or": "bool_or(x)",
    "monthname": "date_format(date, 'MMM')",
    "newid": "uuid()",
    "nextval": "uuid(), or monotonically_increasing_id(): Spark has no sequences",
    "nullifzero": "nullif(x, 0)",
    "object_construct": "named_struct('a', 1), or map('a', 1)",
    # `distinct on (x)`, which Spark parses as a call of the function `on`.
    "on": "select … from (select …, row_number() over (partition by x …) as n …) where n = 1",
    "parse_date": f"to_date(text, …), {_PATTERN}",
    "parse_json": _JSON,
    "parse_timestamp": f"to_timestamp(text, …), {_PATTERN}",
    "ratio_to_report": "x / sum(x) over ()",
    "regexp_contains": "regexp_like(text, pattern)",
    "regexp_matches": "regexp_extract_all(text, pattern, 0)",
    "row": "struct(1, 2)",
    "safe_divide": "try_divide(x, y)",
    "sha256": "sha2(x, 256)",
    "square": "power(x, 2)",
    "starts_with": "startswith(text, start)",
    "strftime": _FORMAT_TIMESTAMP,
    "string_agg": _LIST_AGGREGATE,
    "strpos": "instr(text, part)",
    "strtok": "split_part(text, ' ', 1)",
    "sysdate": "current_timestamp()",
    "time_slice": "window(ts, '15 minutes').start",
    "timestamp_add": "ts + interval 1 day",
    "timestamp_diff": "timestampdiff(day, a, b)",
    "timestamp_from_parts": "make_timestamp(y, m, d, hour, min, sec)",
    "timestamp_sub": "ts - interval 1 day",
    "timestamp_trunc": "date_trunc('day', ts)",
    "to_array": "array(x)",
    "to_hex": "hex(x)",
    "top": "limit n at the end",
    "truncate": _TRUNCATE,
    "try_parse_json": _JSON,
    "unnest": _EXPLODE,
    "uuid_string": "uuid()",
    "week": "weekofyear(date)",
    "zeroifnull": "coalesce(x, 0)",
}

_TIMESTAMP: Final = "timestamp, or timestamp_ntz without a time zone"
_TIME: Final = "string, as in date_format(ts, 'HH:mm:ss')"
_JSON_TEXT: Final = "string, read with get_json_object"
# Types of other dialects, each with Spark's type for the same values.
TYPES: Final[Mapping[str, str]] = {
    "bool": "boolean",
    "bytea": "binary",
    "bytes": "binary",
    "datetime": _TIMESTAMP,
    "float4": "float",
    "float64": "double",
    "float8": "double",
    "int4": "int",
    "int64": "bigint",
    "int8": "bigint",
    "json": _JSON_TEXT,
    "jsonb": _JSON_TEXT,
    "number": "decimal(precision, scale), as in decimal(10, 2); NUMBER without a precision is decimal(38, 0)",
    "nvarchar": "string",
    "text": "string",
    "time": _TIME,
    "timestamptz": "timestamp",
    "uuid": "string",
    "varchar": "string",
    "variant": _JSON_TEXT,
}

# Spark's types that take no argument: an error about one of them means that an argument was given, as in int(11).
_PLAIN_TYPES: Final = frozenset(
    "bigint binary boolean date double float int integer long short smallint string timestamp timestamp_ltz "
    "timestamp_ntz tinyint".split()
)
# Paimon's type names that Spark does not accept in DDL.
_PAIMON_TYPES: Final = {
    "bytes": "binary",
    "varbinary": "binary",
    "time": _TIME,
    "row": "struct, as in struct<a:int>",
    "multiset": "map, as in map<string,int>",
}
_DECLARED: Final = re.compile(r"\s*(\w+)\s*(\(|<|with\b|without\b|$)", re.IGNORECASE)


def declared_type_remedy(data_type: str) -> str | None:
    """What to write instead of a type that Spark cannot declare, such as timestamp(3) or bytes; else None."""
    found = _DECLARED.match(data_type)
    name, follows = (found[1].lower(), found[2]) if found else ("", "")
    if name in _PLAIN_TYPES and follows:
        return _argument_problem(name)
    if name in _PAIMON_TYPES:
        return f"Spark cannot make a column of this type. Write {_PAIMON_TYPES[name]}"
    return None


def remedy(text: str, statement: str) -> str | None:
    """How to write the SQL of another dialect that caused an error, as a sentence; None if no dialect is recognized."""
    advice = _advice(text, statement)
    return f"In Spark SQL: {advice}." if advice else None


def _advice(text: str, statement: str) -> str | None:
    if routine := UNRESOLVED_ROUTINE.search(text):
        function = FUNCTIONS.get(routine[1].lower())
        return f"use {function}" if function else None
    if data_type := _TYPE.search(text):
        name = data_type[1].lower()
        if name in _PLAIN_TYPES:
            return _argument_problem(name)
        return f"{name} is {TYPES[name]}" if name in TYPES else None
    offset = places.position_in(text, statement)
    before, after = ("", "") if offset is None else (statement[max(0, offset - 500) : offset], statement[offset:])
    return next((hint.advice for hint in HINTS if hint.matches(text, before, after)), None)


def _argument_problem(name: str) -> str:
    if not name.startswith("timestamp"):
        return f"{name} takes no argument. Write {name}"
    instead = _TIMESTAMP if name == "timestamp" else name
    return (
        f"{name} takes no precision: it always has microseconds. Write {instead}; to truncate to milliseconds in the "
        f"query: cast(date_trunc('millisecond', ts) as {name})"
    )
