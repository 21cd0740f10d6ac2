"""dbt's cross-database macros: Spark's results for random arguments are compared with Python's."""

from __future__ import annotations

import datetime as dt
import hashlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.text import string_literal
from functional.cross_database.oracle import CLOCK, PARTS, Clock, as_decimal, as_integer

ROWS = 40
# Prefix of a column's name -> the column's type
KINDS = {"d": "date", "ts": "timestamp", "ntz": "timestamp_ntz", "s": "string"}
# SQL of a number -> its value for a row
NUMBERS = {
    "n": lambda row: row["n"],
    "n - 1": lambda row: None if row["n"] is None else row["n"] - 1,
    "-n": lambda row: None if row["n"] is None else -row["n"],
    "case when n > 0 then n end": lambda row: row["n"] if row["n"] and row["n"] > 0 else None,
    "1000000": lambda row: 1_000_000,
}
LARGE = {"big": lambda row: row["big"], "big * 1000 + n": lambda row: both(row["big"], row["n"])}


def both(big: int | None, n: int | None) -> int | None:
    return None if big is None or n is None else big * 1000 + n


@dataclass
class Case:
    """A macro call in Jinja, and its value for a row of arguments; a `planted` macro is wrong and must be detected."""

    call: str
    expected: Callable[[dict[str, Any]], Any]
    planted: bool = False


class Arguments:
    """Random rows: moments near the edges of days, months and years and near clock changes, and NULL."""

    def __init__(self, seed: str, clock: Clock, years: range, edges: list[dt.datetime]) -> None:
        self._random = random.Random(seed)
        self._clock, self._years, self._edges = clock, years, edges

    def rows(self) -> Iterator[dict[str, Any]]:
        for place in range(ROWS):
            yield {
                **{f"{kind}{i}": self._moment(kind) for kind in KINDS for i in (1, 2)},
                "n": self._or_null(self._random.choice((0, 1, -1, 2, 12, 53, -24, 400, -1000))),
                "big": self._or_null(self._random.choice((3_000_000_000, -5_000_000_000, 7, -1_234_567))),
                "id": place,
            }

    def _or_null(self, value: Any) -> Any:
        return None if self._random.random() < 0.05 else value

    def _moment(self, kind: str) -> dt.datetime | None:
        local = self._random.choice((self._any_time, self._at_edge))()
        if kind == "d":
            local = dt.datetime.combine(local.date(), dt.time())
        if kind == "ts":
            return self._or_null(local.replace(tzinfo=dt.timezone.utc))
        return self._or_null(local if kind == "ntz" else self._clock.instant(local))

    def _any_time(self) -> dt.datetime:
        pick = self._random
        year = pick.choice((self._years[0], self._years[-1], pick.choice(self._years)))
        time = pick.choice((dt.time(), dt.time(23, 59, 59, 999999), dt.time(*(pick.randrange(24) for _ in range(3)))))
        month, day = pick.choice(((1, 1), (12, 31), (2, 28), (1, 31), (pick.randint(1, 12), pick.randint(1, 28))))
        micros = pick.choice((time.microsecond, pick.randrange(1_000_000)))
        return dt.datetime.combine(dt.date(year, month, day), time.replace(microsecond=micros))

    def _at_edge(self) -> dt.datetime:
        edge, off = (
            self._random.choice(self._edges),
            self._random.randrange(-4 * 3600 * 10**6, 4 * 3600 * 10**6),
        )
        return edge + dt.timedelta(microseconds=off)


def literal(value: Any, kind: str, clock: Clock) -> str:
    if kind in ("n", "big", "id"):
        return f"cast({'null' if value is None else value} as {'int' if kind == 'n' else 'bigint'})"
    if value is None:
        return f"cast(null as {KINDS[kind]})"
    text = value.isoformat() if kind in ("ts", "ntz") else clock.local(value).isoformat(" ", "microseconds")
    return f"cast('{text[:10] if kind == 'd' else text}' as {KINDS[kind]})"


def arguments_sql(rows: list[dict[str, Any]], clock: Clock) -> str:
    """The rows as SQL. Dates and strings are local times in the session's zone."""
    names = list(rows[0])
    values = (f"({', '.join(literal(row[name], name.rstrip('12'), clock) for name in names)})" for row in rows)
    return f"select * from values {', '.join(values)} as arguments({', '.join(names)})"


def of_moments(row: dict[str, Any], names: tuple[str, ...], macro: Callable[..., Any], *more: Any) -> Any:
    values = [row[name] for name in names] + list(more)
    return None if None in values else macro(*values)


def dateadd_cases(clock: Clock, pick: random.Random) -> Iterator[Case]:
    for part in PARTS:
        for kind in KINDS:
            numbers = (NUMBERS | LARGE) if part in ("millisecond", "microsecond") else NUMBERS
            if part not in CLOCK:
                numbers = {text: number for text, number in numbers.items() if text != "1000000"}
            text = pick.choice(sorted(numbers))
            yield Case(
                f"dbt.dateadd('{part}', '{text}', '{kind}1')",
                lambda row, part=part, kind=kind, number=numbers[text]: of_moments(
                    row | {"number": number(row)},
                    (f"{kind}1", "number"),
                    lambda moment, n: clock.dateadd(part, n, moment),
                ),
            )


def datediff_cases(clock: Clock, pick: random.Random) -> Iterator[Case]:
    for part in PARTS:
        pairs = [(f"{kind}1", f"{kind}2") for kind in KINDS]
        for first, second in [*pairs, tuple(pick.sample(["d1", "ts1", "ntz1", "s1"], 2))]:
            yield Case(
                f"dbt.datediff('coalesce({first}, {first})', '{second}', '{part}')",
                lambda row, part=part, names=(first, second): of_moments(
                    row, names, lambda one, other: clock.datediff(one, other, part)
                ),
            )


def trunc_cases(clock: Clock) -> Iterator[Case]:
    for part in PARTS:
        for kind in KINDS:
            yield Case(
                f"dbt.date_trunc('{part}', '{kind}1')",
                lambda row, part=part, kind=kind: of_moments(
                    row, (f"{kind}1",), lambda moment: clock.date_trunc(part, moment)
                ),
            )
            if part not in CLOCK:
                yield Case(
                    f"dbt.last_day('{kind}1', '{part}')",
                    lambda row, part=part, kind=kind: of_moments(
                        row, (f"{kind}1",), lambda moment: clock.last_day(part, moment)
                    ),
                )


def planted_cases(clock: Clock) -> Iterator[Case]:
    """dbt-spark's own macros, each of which must differ from Python at least once: `n - 1` weeks lack parentheses."""
    for part in ("week", "hour"):
        yield Case(
            f"spark__dateadd('{part}', 'n - 1', 'ts1')",
            lambda row, part=part: of_moments(row, ("ts1", "n"), lambda moment, n: clock.dateadd(part, n - 1, moment)),
            planted=True,
        )
    for part in ("month", "hour", "minute"):
        yield Case(
            f"spark__datediff('ts1', 'ts2', '{part}')",
            lambda row, part=part: of_moments(row, ("ts1", "ts2"), lambda one, other: clock.datediff(one, other, part)),
            planted=True,
        )


NUMBER_TYPES: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda value, bits=bits: as_integer(value, bits)
        for name, bits in (("tinyint", 8), ("smallint", 16), ("int", 32), ("bigint", 64))
    },
    **{
        f"decimal({precision},{scale})": lambda value, size=(precision, scale): as_decimal(value, *size)
        for precision, scale in ((3, 0), (10, 2), (38, 0), (38, 6))
    },
}


def cast_cases(pick: random.Random) -> Iterator[tuple[str, str, Any]]:
    """SQL of a value, a type to cast it to, and the result; None if the cast fails."""
    whole = [0, 1, -1, 300, -129, *(sign * 2**bits for bits in (7, 8, 15, 31, 62) for sign in (1, -1))]
    decimals = [Decimal(n) for n in whole] + [
        Decimal(pick.randrange(-(10**14), 10**14)).scaleb(-pick.randrange(1, 9)) for _ in range(12)
    ]
    doubles = [float(n) for n in whole if abs(n) < 2**62] + [
        pick.uniform(-1, 1) * 10.0 ** pick.randrange(-3, 15) for _ in range(12)
    ]
    texts = [str(n) for n in whole] + ["", " ", " 7 ", "abc", "1.5", "9" * 30, "-"]
    for name, value_in in NUMBER_TYPES.items():
        yield from ((f"cast({value} as decimal(38,10))", name, value_in(value)) for value in decimals)
        yield from ((f"cast('{value!r}' as double)", name, value_in(value)) for value in doubles)
        yield from ((f"'{value}'", name, value_in(value)) for value in texts)
    days = {
        "2024-02-30": None,
        " 2024-02-29 ": "2024-02-29",
        "": None,
        "abc": None,
        "9999-12-31": "9999-12-31",
    }
    yield from ((f"'{text}'", "date", day) for text, day in days.items())
    for text, moment in (("2024-02-29 25:00:00", None), ("2024-02-29 05:00:00.5", "2024-02-29 05:00:00.5")):
        yield from ((f"'{text}'", kind, moment) for kind in ("timestamp", "timestamp_ntz"))
    yield from (
        ("1e300D", "float", None),
        ("'1e999'", "double", None),
        ("double('inf')", "float", "Infinity"),
    )
    yield from (("'maybe'", "boolean", None), ("'true'", "boolean", "true"), ("300", "string", "300"))
    yield from (
        ("'abcd'", "varchar(3)", None),
        ("'abc'", "varchar(3)", "abc"),
        ("100 + 200", "tinyint", None),
    )


AGGREGATES = {
    "'(select ' ~ dbt.bool_or('x > 1') ~ ' from values (1), (2), (null) as t(x))'": "true",
    "'(select ' ~ dbt.any_value('x') ~ ' from values (3), (3) as t(x))'": "3",
    "'(select ' ~ dbt.listagg('x', \"'|'\", 'order by x desc', 2) ~ ' from values (1), (9), (null), (10) as t(x))'": "10|9",
    "'(select ' ~ dbt.listagg('distinct x', \"'|'\", 'order by x') ~ ' from values (2), (1), (2) as t(x))'": "1|2",
    "'(select sum(generated_number) from (' ~ dbt.generate_series(10) ~ '))'": "55.0",
    "'(select count(*) from (select 1 ' ~ dbt.except() ~ ' select 2))'": "1",
    "'(select count(*) from (select 1 ' ~ dbt.intersect() ~ ' select 2))'": "0",
    "'typeof(' ~ dbt.current_timestamp() ~ ')'": "timestamp",
    "'typeof(' ~ dbt.current_timestamp_in_utc_backcompat() ~ ')'": "timestamp",
}


def text_cases(pick: random.Random) -> Iterator[tuple[str, Any]]:
    """A macro call in Jinja, and its expected value."""
    for _ in range(40):
        text = "".join(pick.choice("ab.|*\\'\"é日 $[") for _ in range(pick.randrange(12)))
        sign, other = (pick.choice(("a", ".", "|", "*", "b.", "\\", "[")) for _ in range(2))
        sql, its, others = (jinja(string_literal(value)) for value in (text, sign, other))
        escaped = f"dbt.string_literal(dbt.escape_single_quotes({jinja(text)}))"
        length, part = pick.randrange(15), pick.choice((1, 2, 3, -1, -2))
        yield f"dbt.length({sql})", len(text)
        yield f"dbt.right({sql}, '{length} - 1')", text[-(length - 1) :] if length > 1 else ""
        yield f"dbt.position({its}, {sql})", text.find(sign) + 1
        yield f"dbt.replace({sql}, {its}, {others})", text.replace(sign, other)
        yield f"dbt.concat([{sql}, {its}, {others}])", text + sign + other
        yield f"dbt.hash({sql})", hashlib.md5(text.encode()).hexdigest()
        yield f"dbt.split_part({sql}, {its}, {part})", part_of(text.split(sign), part)
        yield escaped, text
    yield "dbt.string_literal(dbt.escape_single_quotes('${spark.app.id}'))", "${spark.app.id}"
    for day in (dt.date.min, dt.date(987, 6, 5), dt.date(2024, 2, 29), dt.date.max):
        yield f"dbt.date({day.year}, {day.month}, {day.day})", day
    for one, other, same in (("true or false", "false", "false"), ("id is null", "id = 1", "false")):
        yield f"dbt.cast_bool_to_text(dbt.equals('{one}', '{other}'))", same
    yield from AGGREGATES.items()
    yield "dbt.array_append(dbt.array_construct([1, 2]), 3)", "[1, 2, 3]"
    yield "'typeof(' ~ dbt.array_construct([], 'date') ~ ')'", "array<date>"
    yield "dbt.array_concat(dbt.array_construct([]), dbt.array_construct([4]))", "[4]"
    for kind, name in (
        ("int", "int"),
        ("bigint", "bigint"),
        ("numeric", "decimal(28,6)"),
        ("boolean", "boolean"),
    ):
        yield f"'typeof(cast(null as ' ~ dbt.type_{kind}() ~ '))'", name


def part_of(parts: list[str], number: int) -> str | None:
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else None


def jinja(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def query(calls: list[str], source: str) -> str:
    """A model with the number and the value (as text) of each call, for each row of a source."""
    values = ",\n".join(f"struct({n}, cast({{{{ {call} }}}} as string))" for n, call in enumerate(calls))
    return (
        "{{ config(materialized='table') }}\n"
        f"select id, inline(array(\n{values}\n)) as (number, value) from ({source})"
    )


SPINES = {
    # The clocks change twice in Los Angeles, and never in UTC.
    "hour": ("2024-03-09", "2024-11-05"),
    "minute": ("2024-03-10 00:30:00", "2024-03-10 06:00:00"),
    "day": ("2024-02-27", "2024-11-05"),
    "week": ("2024-01-01", "2024-03-11"),
    "month": ("2024-01-31", "2025-03-01"),
    "quarter": ("2023-12-31", "2025-04-01"),
    "year": ("1999-02-28", "2009-01-01"),
}


def spines_sql() -> str:
    """A model with the rows of every date spine."""
    return "{{ config(materialized='table') }}\n" + "\nunion all ".join(
        f"select '{part}' as part, date_{part} as moment, cast(date_{part} as string) as value from ("
        f"{{{{ dbt.date_spine('{part}', \"timestamp'{start}'\", \"timestamp'{end}'\") }}}})"
        for part, (start, end) in SPINES.items()
    )


class AgainstPython:
    """Compares all macros in one time zone."""

    ZONE = "UTC"
    ANSI = "false"
    YEARS = range(1, 10_000)
    EDGES: tuple[dt.datetime, ...] = (
        dt.datetime(1970, 1, 1),
        dt.datetime(2024, 2, 29),
        dt.datetime(1582, 10, 15),
    )

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        settings = {"spark.sql.session.timeZone": self.ZONE, "spark.sql.ansi.enabled": self.ANSI}
        return dbt_profile_target | {"spark_config": dbt_profile_target["spark_config"] | settings}

    @property
    def clock(self) -> Clock:
        return Clock(self.ZONE)

    @property
    def rows(self) -> list[dict[str, Any]]:
        return list(Arguments(self.ZONE, self.clock, self.YEARS, list(self.EDGES)).rows())

    @property
    def moments(self) -> list[Case]:
        clock, pick = self.clock, random.Random(self.ZONE)
        return [
            *dateadd_cases(clock, pick), *datediff_cases(clock, pick), *trunc_cases(clock), *planted_cases(clock)
        ]  # fmt: skip

    @property
    def casts(self) -> list[tuple[str, str, Any]]:
        return list(cast_cases(random.Random(self.ZONE)))

    @property
    def texts(self) -> list[tuple[str, Any]]:
        return list(text_cases(random.Random(self.ZONE)))

    @pytest.fixture(scope="class")
    def models(self):
        one = "select 1L as id"
        casts = [f"dbt.safe_cast({jinja(sql)}, '{kind}')" for sql, kind, _ in self.casts]
        held = [f"dbt.cast({jinja(sql)}, '{kind}')" for sql, kind, value in self.casts if value is not None]
        return {
            "moments.sql": query([case.call for case in self.moments], arguments_sql(self.rows, self.clock)),
            "texts.sql": query([*casts, *held, *(call for call, _ in self.texts)], one),
            "spines.sql": spines_sql(),
            "too_large.sql": "select {{ dbt.cast(300, 'tinyint') }} as t",
        }

    @pytest.fixture(scope="class")
    def built(self, project):
        assert len(run_dbt(["run", "--exclude", "too_large"])) == 3
        return project

    def values(self, project, model: str) -> dict[tuple[int, int], str | None]:
        found = project.run_sql(f"select id, number, value from {project.test_schema}.{model}", fetch="all")
        return {(row[0], row[1]): row[2] for row in found}

    def test_moments(self, built):
        found, clock, differ = self.values(built, "moments"), self.clock, []
        for number, case in enumerate(self.moments):
            wrong = [
                message for row in self.rows if (message := self.wrong(case, row, clock, found[row["id"], number]))
            ]
            if case.planted:
                assert wrong, case.call
            else:
                differ += wrong[:2]
        assert differ == [], "\n".join(differ)

    def wrong(self, case: Case, row: dict[str, Any], clock: Clock, value: str | None) -> str:
        try:
            expected = clock.text(case.expected(row))
        except OverflowError:
            return ""
        shown = {name: clock.text(row[name]) for name in row if name in case.call}
        return "" if value == expected else f"{case.call} of {shown}: {value}, not {expected}"

    def test_texts(self, built):
        casts = [(f"safe_cast {sql} as {kind}", value) for sql, kind, value in self.casts]
        held = [(f"cast {sql} as {kind}", value) for sql, kind, value in self.casts if value is not None]
        found, expected = self.values(built, "texts"), [*casts, *held, *self.texts]
        assert len(found) == len(expected)
        differ = [
            f"{call}: {found[1, number]!r}, not {wanted!r}"
            for number, (call, value) in enumerate(expected)
            if found[1, number] != (wanted := self.clock.text(value))
        ]
        assert differ == [], "\n".join(differ)

    def test_cast_that_fails(self, built):
        with pytest.raises(DbtRuntimeError, match="300 is not a valid tinyint"):
            run_dbt(["show", "--select", "too_large"])

    def test_date_spine(self, built):
        found = built.run_sql(f"select part, value from {built.test_schema}.spines order by moment", fetch="all")
        for part, texts in SPINES.items():
            start, end = (self.clock.instant(dt.datetime.fromisoformat(text)) for text in texts)
            expected, moment = [], start
            while moment < end:
                expected.append(self.clock.text(moment))
                moment = self.clock.dateadd(part, len(expected), start)
            assert [row[1] for row in found if row[0] == part] == expected


class TestAllYears(AgainstPython):
    pass


class TestClocksThatChange(AgainstPython):
    ZONE = "America/Los_Angeles"
    ANSI = "true"
    YEARS = range(1970, 2037)
    EDGES = (dt.datetime(2024, 3, 10, 2, 30), dt.datetime(2024, 11, 3, 1, 30), dt.datetime(1970, 1, 1))


@pytest.mark.full
class TestHalfHours(AgainstPython):
    ZONE = "Asia/Kolkata"
    YEARS = range(1970, 2037)
    EDGES = (dt.datetime(1970, 1, 1), dt.datetime(2024, 2, 29))
