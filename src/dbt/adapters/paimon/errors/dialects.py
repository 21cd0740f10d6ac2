"""SQL of other dialects that Spark does not accept, each with Spark's equivalent.

tests/functional/dialects runs every entry: the query fails on Spark 3.5, and its error contains the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.errors import places

_ROUTINE: Final = re.compile(r"\[UNRESOLVED_ROUTINE\] Cannot resolve (?:function|routine) `(\w+)`")
_TYPE: Final = re.compile(r'Unsupported data type "(\w+)|\[DATATYPE_MISSING_SIZE\] DataType "(\w+)"')
# An argument list that is still open, and its contents.
_OPEN: Final = r"\s*\((?:[^()]|\([^()]*\))*$"


@dataclass(frozen=True)
class DialectHint:
    """A known failure: `error` is searched in Spark's message, `before` and `after` in the SQL around its position.

    `before` must end with `$`; `after` is matched from the position on. Without a position, both see empty text.
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


def _syntax(advice: str, before: str = "", after: str = "") -> DialectHint:
    return DialectHint(r"\[PARSE_SYNTAX_ERROR\]", advice, before, after)


def _column(advice: str, before: str = "", after: str = "") -> DialectHint:
    return DialectHint(r"\[UNRESOLVED_COLUMN", advice, before, after)


def _by_name(table: Mapping[str, str]) -> dict[str, str]:
    """A table of Spark's way and the names of others, by name."""
    return {name: advice for advice, names in table.items() for name in names.split()}


_AGGREGATE_TEXT: Final = "array_join(collect_list(x), ','), or `{{ dbt.listagg(…) }}`"
_JSON: Final = "get_json_object(text, '$.a'), or from_json(text, 'a int')"
_TRUNCATED: Final = "cast(x as bigint), or cast(x * 10 as bigint) / 10 for one digit"
_EXPLODE: Final = (
    "rows of an array: select explode(array) …, or `from t lateral view explode(array) e as x`; a series: "
    "explode(sequence(1, 3)) or range(1, 4)"
)
_PATTERN: Final = "with Java's pattern letters, as in 'yyyy-MM-dd HH:mm:ss'"
_UNIT: Final = r"'?(?:year|quarter|month|week|day|hour|minute|second)"

IDIOMS: Final[tuple[DialectHint, ...]] = (
    _syntax(
        "OPTIMIZE, VACUUM: of Delta's tables; here the config `maintenance` compacts and expires",
        r"^\s*(/\*.*?\*/\s*)?$",
        r"(optimize|vacuum)\b",
    ),
    _syntax("`x::type`: cast(x as type), or try_cast", after="::"),
    _syntax(f"`x:a`: {_JSON}", after=r":\w"),
    _syntax('"x": names are quoted in backticks, `x`; double quotes make a string', after='"'),
    _syntax("an alias in quotes: it is quoted in backticks, `x`", r"\bas\s+$", "'"),
    _syntax(
        "QUALIFY: filter outside, select … from (select …, row_number() over (…) as n from …) where n = 1",
        r"\bqualify\s+$",
    ),
    _syntax("TOP n: limit n, at the end", r"\bselect\s+(distinct\s+)?top\s+$"),
    _syntax(f"an aggregate of texts in an order: array_sort inside, or {_AGGREGATE_TEXT}", r"\bwithin group\s*$"),
    _syntax("ORDER BY inside an aggregate: sort_array(collect_list(struct(key, x))).x", r"\w" + _OPEN, r"order\s+by\b"),
    _syntax("`limit m, n`: limit n offset m", r"\blimit\s+\d+\s*$", ","),
    _syntax("`offset m rows`: offset m, after limit", r"\boffset\s+\d+\s+$", r"rows?\b"),
    _syntax("`fetch first n rows`: limit n", r"\bfetch\s+$", r"(first|next)\b"),
    _syntax(f"`->>`: {_JSON}", r"->$", ">"),
    DialectHint(r"\[INTERNAL_ERROR\].*lambdafunction", f"`->`: {_JSON}"),
    _syntax(
        "`* exclude`, `* except`, `* replace`: name the columns, or dbt_utils.star(from=ref('x'), except=['id'])",
        r"\*\s*(exclude|except|replace|rename)\s*\(?\s*$",
    ),
    _syntax("a temporary table: materialized='ephemeral', or create temporary view", r"\btemp(orary)?\s+$", "table"),
    _syntax("safe_cast: try_cast(x as type)", r"\bsafe_cast" + _OPEN, r"as\b"),
    _syntax("double precision: double", r"\bdouble\s+$", "precision"),
    _syntax("array[1, 2]: array(1, 2)", r"\barray\s*\[[^\]]*$"),
    _syntax("[x]: a name is quoted in backticks, `x`; an array is array(1, 2)", after=r"\["),
    _syntax("`~`: rlike, with '(?i)…' for `~*`", after="~"),
    _syntax("SIMILAR TO: rlike", after=r"similar\s+to\b"),
    _syntax(
        "a table as it was: {{ at(ref('x'), timestamp='…') }}, or x timestamp as of '…'",
        r"\b(at|before)\s*\(\s*\w+\s*$",
        "=>",
    ),
    _syntax(
        "AT TIME ZONE: from_utc_timestamp(ts, zone), or convert_timezone(from, to, ts)", r"\bat\s+$", r"time\s+zone\b"
    ),
    _syntax("`#`: a comment begins with --", after="#"),
    _syntax("`//`: a comment begins with --, and whole division is `div`", r"(?<!/)$", "//"),
    _syntax("`//`: a comment begins with --, and whole division is `div`", "/$", "/"),
    _syntax("$$text$$: r'text'", after=r"\$\$"),
    _syntax("SAMPLE: tablesample (10 percent)", r"\bsample\s*\(\s*$"),
    _syntax(
        "WITH RECURSIVE: Spark 3.5 has no recursion; a Python model can loop, explode(sequence(…)) makes series",
        r"\bwith\s+recursive\s+$",
    ),
    _syntax("`x in unnest(array)`: array_contains(array, x)", after=r"in\s+unnest\b"),
    _syntax("COLLATE: compare lower(x), or use ilike", after=r"collate\b"),
    _syntax("UNION BY NAME: name the columns in the same order on both sides", r"\bunion(\s+all)?\s+$", r"by\s+name\b"),
    _syntax(
        "IGNORE NULLS goes after the parenthesis: first_value(x) ignore nulls over (…)",
        r"\w" + _OPEN,
        r"ignore\s+nulls",
    ),
    _syntax("ASOF JOIN: join on <= and keep the last row with row_number()", after=r"asof\b"),
    _syntax("{…}: named_struct('a', 1), or map('a', 1)", after=r"\{"),
    _syntax("a comma too many", r",\s*$", ","),
    # Spark then reads FROM as a column, and its table as the column's alias.
    _syntax("a comma too many, before FROM", r",\s*from\s+`[^`]+`$", r"\."),
    _column("a comma too many, before FROM", after=r"\w+,\s*from\b"),
    _column("the unit is a string and comes first: date_trunc('month', ts)", r"\bdate_trunc" + _OPEN, rf"{_UNIT}\b"),
    _column("epoch_second: unix_timestamp(ts)", r"\bdate_?part" + _OPEN, r"epoch\w*"),
    _column("the unit is a string: date_part('year', ts)", r"\bdate_?part" + _OPEN, rf"{_UNIT}\b"),
    _column(
        "last_day(date) is the month's; for another unit add to date_trunc('year', date)",
        r"\blast_day" + _OPEN,
        rf"{_UNIT}\b",
    ),
    _column(
        "{{ dbt.datediff('a', 'b', 'day') }}, or datediff(day, a, b), which counts whole days",
        r"\bdate_?diff" + _OPEN,
        rf"{_UNIT}\b",
    ),
    _column(_EXPLODE, r"\b(unnest|flatten)" + _OPEN),
    _column("current_timestamp()", after=r"(sysdate|systimestamp|localtimestamp|getdate)\b"),
    DialectHint("does not support table-valued functions", _EXPLODE),
    DialectHint("expects one of the units without quotes", "the unit is written without quotes: dateadd(day, 1, ts)"),
    DialectHint(r'Cannot resolve "date_(add|sub)\(.*INTERVAL', "ts + interval 1 day, or date_add(date, 1)"),
    DialectHint(r'Cannot resolve "to_char\(', f"date_format(ts, …), {_PATTERN}"),
    DialectHint(
        r'Cannot resolve "trunc\(.*requires the "DATE"',
        f"a number: {_TRUNCATED}",
    ),
    DialectHint(r'Cannot resolve "any\(.*"BOOLEAN"', "`x = any (array)`: array_contains(array, x)"),
    DialectHint(r"Fail to recognize '.*' pattern in the DateTimeFormatter", f"the pattern is written {_PATTERN}"),
    DialectHint(r"The `(try_)?to_number` requires", "to_number(x): cast(x as decimal(18, 2)), or try_cast"),
    DialectHint(r"The `to_varchar` requires", f"to_varchar(x): cast(x as string), or date_format(ts, …), {_PATTERN}"),
    DialectHint(r"The `trunc` requires", "trunc(x) of a number: cast(x as bigint)"),
    DialectHint(r"The `date` requires", "date(y, m, d): make_date(y, m, d)"),
    DialectHint(r"The `isnull` requires", "isnull(x, y): coalesce(x, y)"),
    DialectHint(r"Cannot extract `epoch`", "extract(epoch from ts): unix_timestamp(ts)"),
    DialectHint(r"Cannot extract `isodow`", "extract(isodow from ts): extract(dayofweek_iso from ts)"),
    DialectHint(
        r"Cannot mix year-month and day-time fields", "an interval for each: ts + interval 1 month + interval 2 days"
    ),
    DialectHint(r'Literals of the type "E"', "E'…': '…', which already reads \\n and the like"),
    DialectHint(r'Literals of the type "B"', "b'…': X'…' of its bytes in hex, or encode('…', 'utf-8')"),
    DialectHint(
        "Number of column aliases does not match", "a table hint: leave it out", after=r".*\bwith\s*\(\s*nolock"
    ),
    # Spark 4 reads these two as its own: an option of a scan, and a field of a variant.
    DialectHint(r"Values must be specified for key\(s\): \[nolock\]", "a table hint: leave it out"),
    DialectHint("COLUMN_IS_NOT_VARIANT_TYPE", f"`x:a`: {_JSON}"),
)

# Spark's way, and the functions of other dialects that do the same.
_FUNCTIONS: Final = {
    "approx_percentile(x, array(0.25, 0.5, 0.75))": "approx_quantiles",
    "max_by(x, key)": "arg_max",
    "min_by(x, key)": "arg_min",
    "array(1, 2)": "array_construct",
    "size(array)": "array_length",
    "array_join(array, ',')": "array_to_string",
    "collect_list(x), or sort_array(collect_list(x))": "arrayagg",
    "x & y": "bitand",
    "bool_and(x)": "booland_agg logical_and",
    "bool_or(x)": "boolor_agg logical_or",
    "locate(part, text)": "charindex",
    "cast(x as type)": "convert",
    "count_if(x)": "countif",
    "current_timestamp()": "current_datetime getdate sysdate",
    "make_date(y, m, d)": "date_from_parts",
    "timestamp(x)": "datetime",
    "timestampdiff(day, a, b)": "datetime_diff timestamp_diff",
    "date_trunc('day', ts)": "datetime_trunc timestamp_trunc",
    "date_format(date, 'EEE')": "dayname",
    "extract(dayofweek_iso from date)": "dayofweekiso",
    "coalesce(try_divide(x, y), 0)": "div0",
    "if(coalesce(y, 0) = 0, 0, x / y)": "div0null",
    "endswith(text, end)": "ends_with",
    "xxhash64(x)": "farm_fingerprint",
    f"date_format(date, …), {_PATTERN}": "format_date",
    f"date_format(ts, …), {_PATTERN}": "format_timestamp strftime",
    "uuid()": "gen_random_uuid generate_uuid newid uuid_string",
    _EXPLODE: "generate_series unnest",
    "range(3)": "generator",
    _JSON: "get_path json_extract json_extract_path_text json_extract_scalar json_value parse_json try_parse_json",
    _AGGREGATE_TEXT: "group_concat listagg string_agg",
    "if(x, y, z)": "iff iif",
    "aggregate(array, 0, (a, x) -> a + x)": "list_aggregate",
    "date_format(date, 'MMM')": "monthname",
    "uuid(), or monotonically_increasing_id(); Spark has no sequences": "nextval",
    "nullif(x, 0)": "nullifzero",
    "named_struct('a', 1), or map('a', 1)": "object_construct",
    "`distinct on (x)`: filter outside, select … from (select …, row_number() over (partition by x …) as n …"
    ") where n = 1": "on",
    f"to_date(text, …), {_PATTERN}": "parse_date",
    f"to_timestamp(text, …), {_PATTERN}": "parse_timestamp",
    "x / sum(x) over ()": "ratio_to_report",
    "regexp_like(text, pattern)": "regexp_contains",
    "regexp_extract_all(text, pattern, 0)": "regexp_matches",
    "struct(1, 2)": "row",
    "try_divide(x, y)": "safe_divide",
    "sha2(x, 256)": "sha256",
    "power(x, 2)": "square",
    "startswith(text, start)": "starts_with",
    "instr(text, part)": "strpos",
    "split_part(text, ' ', 1)": "strtok",
    "window(ts, '15 minutes').start": "time_slice",
    "ts + interval 1 day": "timestamp_add",
    "make_timestamp(y, m, d, hour, min, sec)": "timestamp_from_parts",
    "ts - interval 1 day": "timestamp_sub",
    "array(x)": "to_array",
    "hex(x)": "to_hex",
    "limit n, at the end": "top",
    _TRUNCATED: "truncate",
    "weekofyear(date)": "week",
    "coalesce(x, 0)": "zeroifnull",
}
FUNCTIONS: Final[Mapping[str, str]] = _by_name(_FUNCTIONS)

# Spark's types, and the types of other dialects for the same values.
_TYPES: Final = {
    "boolean": "bool",
    "binary": "bytea bytes",
    "timestamp, or timestamp_ntz without a time zone": "datetime",
    "float": "float4",
    "double": "float64 float8",
    "int": "int4",
    "bigint": "int64 int8",
    "string, read with get_json_object": "json jsonb variant",
    "decimal, as in decimal(10, 2); alone it is decimal(38, 0)": "number",
    "string": "nvarchar text uuid varchar",
    "string, as in date_format(ts, 'HH:mm:ss')": "time",
    "timestamp": "timestamptz",
}
TYPES: Final[Mapping[str, str]] = _by_name(_TYPES)


# Spark's types without an argument: the error is about one that has it, as timestamp(3) or int(11).
_PLAIN_TYPES: Final = frozenset(
    "bigint binary boolean date double float int integer long short smallint string timestamp timestamp_ltz "
    "timestamp_ntz tinyint".split()
)
# Paimon's own names of types, which Spark does not know.
_PAIMONS_TYPES: Final = {
    "bytes": "binary",
    "varbinary": "binary",
    "time": "string, as in date_format(ts, 'HH:mm:ss')",
    "row": "struct, as in struct<a:int>",
    "multiset": "map, as in map<string,int>",
}
_DECLARED: Final = re.compile(r"\s*(\w+)\s*(\(|<|with\b|without\b|$)", re.IGNORECASE)


def declared_type_remedy(data_type: str) -> str | None:
    """What to write in place of a Paimon type that Spark cannot declare, such as timestamp(3); None for others."""
    found = _DECLARED.match(data_type)
    name, follows = (found[1].lower(), found[2]) if found else ("", "")
    if name in _PLAIN_TYPES and follows:
        wrong, instead = _without_argument(name)
        return f"{wrong}. Write {instead}"
    if name in _PAIMONS_TYPES:
        return f"Spark cannot make a column of this type. Write {_PAIMONS_TYPES[name]}"
    return None


def remedy(text: str, statement: str) -> str | None:
    """Spark's equivalent for SQL of another dialect, as a sentence; None if no known one caused the error."""
    advice = _advice(text, statement)
    return f"In Spark SQL: {advice}." if advice else None


def _advice(text: str, statement: str) -> str | None:
    if routine := _ROUTINE.search(text):
        return FUNCTIONS.get(routine[1].lower())
    if data_type := _TYPE.search(text):
        name = (data_type[1] or data_type[2]).lower()
        if name in _PLAIN_TYPES:
            return ": write ".join(_without_argument(name))
        wanted = TYPES.get(name)
        return f"{name} is {wanted}" if wanted else None
    offset = places.position_in(text, statement)
    before, after = ("", "") if offset is None else (statement[max(0, offset - 500) : offset], statement[offset:])
    return next((idiom.advice for idiom in IDIOMS if idiom.matches(text, before, after)), None)


def _without_argument(name: str) -> tuple[str, str]:
    """What is wrong with a type in parentheses, and what to write."""
    if not name.startswith("timestamp"):
        return f"{name} takes nothing in parentheses", name
    instead = "timestamp, or timestamp_ntz without a time zone" if name == "timestamp" else name
    rounded = f"to round one in the query: cast(date_trunc('millisecond', ts) as {name})"
    return f"{name} takes nothing in parentheses, and has six digits of a second", f"{instead}; {rounded}"
