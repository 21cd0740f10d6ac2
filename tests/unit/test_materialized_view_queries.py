"""Which queries of materialized views are incremental, by which keys, and why the others are not."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.materialized_views import analyzer, definitions, incremental, parsing
from dbt.adapters.paimon.plan.materialized_views.query import Query, SourceColumns
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental, Reason
from dbt.adapters.paimon.plan.materialized_views.refresh import Mode, PinnedSource, Refresh, RefreshKind, View
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.analysis import Analyzed
from dbt.adapters.paimon.tables.existing import ExistingTable

PAGE = Path(__file__).parents[2] / "docs" / "materialized-views.md"


def table(identifier: str, key: str, /, **columns: str) -> SourceColumns:
    return SourceColumns(TableName("lake", "s", identifier), columns, tuple(key.split()))


KNOWN: dict[str, SourceColumns | str] = {
    "flights": table(
        "flights",
        "id",
        id="int",
        carrier="string",
        day="date",
        delay="int",
        info="struct<carrier:string,id:int>",
    ),
    "carriers": table("carriers", "carrier", carrier="string", name="string"),
    "status": table("status", "id", id="int", status="string"),
    "rates": table("rates", "carrier day", carrier="string", day="date", rate="decimal(10,2)"),
    "readings": table("readings", "sensor", sensor="double", value="double"),
    "log": table("log", "", id="int", text="string"),
    "my.table": table("my.table", "Id", Id="int", Text="string"),
    "late": "select * from s.flights where delay > 15",
    "late_names": "with late as (select * from s.late) select l.id, c.name from late l join s.carriers c using (carrier)",
    "short": "select * from carriers",
    "itself": "select * from s.itself",
}


def lookup(name: tuple[str, ...]) -> SourceColumns | str | None:
    return KNOWN.get(name[-1].lower())


def read(sql: str) -> Query:
    return analyzer.analyze(sql, lookup)


def why_not(sql: str) -> NotIncremental | None:
    """Why a query is not incremental: its own refusal, or that of its functions and names, judged by the SQL as on a server."""
    query = None
    try:
        query = read(sql)
        parsing.refuse_unknown_functions(query.sql)
        parsing.refuse_unknown_names(query.sql, [name for table in query.tables for name in table.columns])
    except NotIncremental as refusal:
        return (query and query.refusal) or refusal
    return query.refusal


# -- not incremental --------------------------------------------------------------------------------------------------

REFUSED: dict[Reason, tuple[str, ...]] = {
    Reason.NOT_READABLE: (
        "select from where",
        "select id from flights for system_version as of 3",
        "table flights",
        "from flights |> aggregate count(*) as n group by carrier",
        "values (1, 'a')",
        "select * from s.itself",
        # Inside this query, the view's `carriers` would mean the CTE.
        "with carriers as (select * from status) select * from short",
        # A refresh gives the table an alias, so its full name would no longer be found.
        "select s.flights.id from s.flights",
        "select f.id from flights f left join carriers on f.carrier = carriers.carrier left join status carriers using (id)",
    ),
    Reason.NOT_PAIMON: (
        "select * from missing",
        "select * from csv.`/landing/file.csv`",
        "select * from `flights$snapshots`",
        "select * from range(10)",
        "select * from identifier('flights')",
        "select * from paimon_incremental_query('s.flights', 1, 3)",
        "select f.id, r.id as number from flights f join range(2) r on r.id = f.id",
    ),
    Reason.FUNCTION: (
        "select id, current_date() as today from flights",
        "select id from flights where day > current_date - 7",
        "select id from flights where rand() < 0.5",
        "select id, uuid() as mark from flights",
        "select carrier, first(day) as day from flights group by carrier",
        "select carrier, collect_list(id) as ids from flights group by carrier",
        "select carrier, string_agg(name, ',') as names from carriers group by carrier",
        "select id from flights where day = date'today'",
        "select id, cast(' Now ' as timestamp) as read_at from flights",
        "select id from flights where day = date 'today UTC'",
        "select id from flights where day > 'yesterday +01:00'",
        "select id, cast(r'tomorrow' as date) as day from flights",
        "select id, localtimestamp as read_at from flights",
        "select id, user as reader from flights",
        "select id from flights where day > cutoff",
        "select id from flights where day > session.cutoff",
        "select id from flights as f where f.day > system.session.cutoff",
        "select id, shuffle(array(1, 2)) as numbers from flights",
        "select id, current_timezone() as zone from flights",
        "select id, __paimon_file_path from flights",
    ),
    Reason.UNKNOWN_FUNCTION: (
        "select id, my_udf(delay) as delay from flights",
        "select id, input_file_name() as file from flights",
        "select try_sum(id) as ids from log",
        "select any(id > 3) as found from log",
        "select id, json_tuple(carrier, 'a', 'b') from flights",
    ),
    Reason.SUBQUERY: (
        "select id from flights where carrier in (select carrier from carriers)",
        "select id from flights f where exists (select 1 from status s where s.id = f.id)",
        "select id from flights f where not exists (from status s select id where s.id = f.id)",
        "select id, (select max(day) from flights) as last_day from flights",
        "select id, case when delay > (select avg(delay) from flights) then 1 end as late from flights",
        "select f.id from flights f left join carriers c on f.carrier = c.carrier and exists (select 1 from status)",
        "select carrier, count(*) as n from flights group by carrier having count(*) > (select 1)",
    ),
    Reason.WINDOW: (
        "select id, row_number() over (partition by carrier order by day) as number from flights",
        "select id, sum(delay) over w as total from flights window w as (partition by carrier)",
        "select id from flights qualify row_number() over (order by id) = 1",
    ),
    Reason.LIMIT: (
        "select id from flights order by id limit 10",
        "select id from flights order by id offset 10",
        "select id from flights fetch first 3 rows only",
        "select * from (select id, day from flights order by day limit 10) t",
        "with t as (select * from carriers limit 5) select f.id, t.name from flights f left join t using (carrier)",
        "(select 'a' as kind, id from flights) union all (select 'b', id from status) limit 3",
    ),
    Reason.GENERATOR: (
        "select id, explode(array(1, 2)) as number from flights",
        "select id, posexplode_outer(array(1, 2)) from flights",
        "select id, stack(2, delay, delay) as delay from flights",
        "select id, inline(array(struct(1, 2))) from flights",
        "select id, number from flights lateral view explode(array(1, 2)) t as number",
        "select f.id, t.number from flights f, lateral (select f.id + 1 as number) t",
        "select f.id, t.number from flights f join lateral explode(array(1, 2)) t(number)",
    ),
    Reason.SET_OPERATION: (
        "select id from flights union select id from status",
        "select id from flights union distinct select id from status",
        "select id from flights intersect select id from status",
        "select id from flights except all select id from status",
        "select id from flights minus select id from status",
        "select 1 as kind, id from flights union all by name select id, 2 as kind from status",
        "select 1 as kind, id, day from flights union all select 2 as kind, id from status",
    ),
    Reason.UNION_BRANCHES: (
        "select id from flights union all select id from status",
        "select 'a' as kind, id from flights union all select 'a', id from status",
        "select 'a' as kind, id, 0 as other from flights union all select 'b', 0, id from status",
        # The constants are equal as numbers, or as strings.
        "select 1 as kind, id from flights union all select 01, id from status",
        "select 1 as kind, id from flights union all select '1', id from status",
    ),
    Reason.RECURSION: (
        "with recursive t as (select 1 as id union all select id + 1 from t where id < 3) "
        "select f.id from flights f left join t on t.id = f.id",
    ),
    Reason.CLAUSE: (
        "select 1 as one",
        "select carrier, session_window(day, '1 day') as s, count(*) as n from flights group by carrier, session_window(day, '1 day')",
        "select * from values (1, 'a') as t(id, name)",
        "select id from flights version as of 3",
        "select id from flights timestamp as of '2024-01-01'",
        "select * from flights tablesample (10 percent)",
        "select * from (select id from flights) t tablesample (10 rows)",
        "select * from flights pivot (sum(delay) for carrier in ('a', 'b'))",
        "select * from (select id, carrier, delay from flights) pivot (sum(delay) for carrier in ('a', 'b'))",
        "select * from (select id, delay, id as other from flights) unpivot (value for name in (delay, other))",
        "select f.id from flights f join carriers c on c.carrier = f.carrier pivot (count(1) for name in ('a'))",
        "select f.id, f.info.* from flights f left join carriers info on info.carrier = f.carrier",
        "select id from flights qualify id = 1",
        "select id from flights sort by id",
        "select id from flights cluster by id",
        "select * except (day) from flights",
        "select flights.* except (day) from flights",
        "select * from flights left join carriers using (carrier)",
        "select distinct carrier, count(*) as n from flights group by carrier",
        "select *, count(*) as n from flights group by all",
        "select carrier, try_sum(delay) as delay from flights group by all",
        "select carrier, mean(delay) as delay from flights group by all",
        "select f.id from ((flights f) left join log on true)",
        "select f.id from flights f join carriers c join status s on s.id = f.id on c.carrier = f.carrier",
        "select f.id from (flights f left join carriers c on c.carrier = f.carrier)",
        "select a from flights as t(a, b)",
        # Only Spark knows the name of the first column.
        "select upper(carrier), count(*) as n from flights group by 1",
    ),
    Reason.READ_TWICE: (
        "with f as (select * from flights) select f.id, g.day from f left join f as g on g.id = f.id",
        "with f as (select * from flights) select 'a' as kind, id from f union all select 'b', id from f",
    ),
    Reason.KEY_NOT_SELECTED: (
        "select carrier, day from flights",
        "select id + 1 as id from flights",
        "select cast(id as string) as id from flights",
        "select coalesce(id, 0) as id from flights",
        "select info.id from flights",
        "select flights.info.id from flights",
        "select named_struct('id', id).id as id from flights",
        "select s.id from flights f join status s on s.id = f.id",
        "select carrier, rate from rates",
        "select transform(id) using 'cat' as (id) from flights",
    ),
    Reason.JOIN_KIND: (
        "select f.id from flights f right join carriers c on c.carrier = f.carrier",
        "select f.id from flights f full join carriers c on c.carrier = f.carrier",
        "select f.id from flights f cross join carriers c",
        "select f.id from flights f, carriers c where c.carrier = f.carrier",
        "select f.id from flights f left semi join carriers c on c.carrier = f.carrier",
        "select f.id from flights f semi join carriers c on c.carrier = f.carrier",
        "select f.id from flights f left anti join carriers c on c.carrier = f.carrier",
        "select f.id from flights f anti join carriers c on c.carrier = f.carrier",
        "select * from flights natural join carriers",
    ),
    Reason.JOIN_TO_QUERY: (
        "select f.id, n.n from flights f left join (select carrier, count(*) as n from flights group by carrier) n "
        "on n.carrier = f.carrier",
        "select f.id from flights f left join (select distinct carrier from carriers) c on c.carrier = f.carrier",
        "with n as (select carrier, count(*) as n from flights group by carrier) "
        "select n.carrier, n.n, c.name from n left join carriers c on c.carrier = n.carrier",
        "select f.id from flights f left join late_names l on l.id = f.id",
    ),
    Reason.JOIN_NOT_ON_KEY: (
        "select f.id, r.rate from flights f left join rates r on r.carrier = f.carrier",
        "select f.id, r.rate from flights f left join rates r on r.carrier = f.carrier and r.day = date'2024-01-01'",
        "select f.id, r.rate from flights f left join rates r on r.carrier = f.carrier and r.day > f.day",
        "select f.id, c.name from flights f left join carriers c on c.name = f.carrier",
        "select f.id, c.name from flights f left join carriers c on upper(c.carrier) = f.carrier",
        "select f.id, c.name from flights f left join carriers c on c.carrier = upper(f.carrier)",
        "select f.id, c.name from flights f left join carriers c on c.carrier = f.carrier or f.id = 1",
        "select f.id, c.name from flights f left join carriers c on not (c.carrier = f.carrier)",
        "select f.id, c.name from flights f left join carriers c on (c.carrier = f.carrier) = false",
        "select f.id, c.name from flights f left join carriers c on c.carrier = f.info.carrier",
        "select f.id, c.name from flights f left join carriers c on c.carrier = info.carrier",
        "select f.id, c.name from flights f join carriers c on true",
        "select f.id, c.name from flights f join carriers c on c.carrier = c.carrier",
        "select f.id, l.text from flights f left join log l on l.id = f.id",
        # The strings '01' and '1' both equal the number 1.
        "select c.carrier, s.status from carriers c left join status s on s.id = c.carrier",
        # Not joined to the driving table.
        "select f.id, c.name from flights f left join status s on s.id = f.id left join carriers c on c.carrier = s.status",
        "select r.sensor, o.value from readings r left join readings o on o.sensor = r.sensor",
        "select f.id, c.name from (select id, upper(carrier) as carrier from flights) f left join carriers c using (carrier)",
    ),
    # Cast to a number, two texts may be equal.
    Reason.KEY_TYPE: ("select 'f' as kind, id from flights union all select 'c', carrier from carriers",),
    Reason.NO_GROUP_BY: (
        "select count(*) as n from flights",
        "select count(*) as n, sum(delay) as delay from flights group by all",
        "select max(id) as id from flights having max(id) > 3",
        "select 'x' as kind from log having count(*) > 5",
        "select 'x' as kind from log order by count(*)",
        "with n as (select carrier, count(*) as n from flights group by carrier) select max(n) as n from n",
    ),
    Reason.GROUPING_SETS: (
        "select carrier, day, count(*) as n from flights group by carrier, day with rollup",
        "select carrier, day, count(*) as n from flights group by rollup(carrier, day)",
        "select carrier, day, count(*) as n from flights group by cube(carrier, day)",
        "select carrier, day, count(*) as n from flights group by grouping sets ((carrier), (day))",
    ),
    Reason.GROUP_NOT_SELECTED: (
        "select count(*) as n from flights group by carrier",
        "select carrier, count(*) as n from flights group by carrier, day",
        "select upper(carrier) as carrier, count(*) as n from flights group by flights.carrier",
        "select carrier, count(*) as n from flights group by 'a', carrier",
        "select carrier, count(*) as n from flights group by carrier, 2.0",
        "select count(*) as n from flights group by ()",
        "select carrier, count(*) as n from flights f left join rates r using (carrier, day) group by r.carrier",
        # Spark groups by the column of the table, not by the alias.
        "select max(carrier) as day, count(*) as n from flights group by day",
        "select 1 as id, count(*) as n from flights group by id",
        "select date_trunc('month', day) as day, count(*) as n from flights group by day",
        "select coalesce(c.name, '?') as name, count(*) as n from flights f left join carriers c using (carrier) group by name",
        "with n as (select carrier, count(*) as n from flights group by carrier) select n from n",
        "with n as (select carrier, count(*) as n from flights group by carrier) select upper(carrier) as carrier, n from n",
    ),
    Reason.ABOVE_GROUPS: (
        "with n as (select carrier, count(*) as n from flights group by carrier) select carrier, n from n where n > 1",
        "with n as (select carrier, count(*) as n from flights group by carrier) select n, count(*) as m from n group by n",
        "with n as (select distinct carrier from flights) select distinct carrier from n",
        "select carrier, count(*) as n from flights group by carrier union all select carrier, 1 from carriers",
    ),
}
# Reasons that depend on the run, on Spark's plan or on the config.
NOT_IN_THE_SQL = {
    Reason.VIEW_SETTINGS,
    Reason.SESSION_VIEW,
    Reason.FIRST_RUN,
    Reason.FULL_REFRESH,
    Reason.LIMITED_RUN,
    Reason.REFRESH_MODE,
    Reason.REBUILT,
    Reason.NOT_FROM_HERE,
    Reason.CASE_SENSITIVE,
    Reason.CHAR,
    Reason.NOT_ANALYZED,
    Reason.SQL_HEADER,
    Reason.WRITTEN_BY_OTHERS,
    Reason.POSITION_LOST,
    Reason.TOO_MANY,
    Reason.FEW_GROUPS,
    Reason.NO_KEY,
    Reason.PLAN,
    Reason.OTHER_KEY,
    Reason.PARTITIONED,
}


@pytest.mark.parametrize(("reason", "sql"), [(reason, sql) for reason, queries in REFUSED.items() for sql in queries])
def test_a_query_that_is_not_incremental_says_why(reason: Reason, sql: str) -> None:
    refusal = why_not(sql)
    assert refusal is not None
    assert refusal.reason is reason, refusal.words


@pytest.mark.parametrize(
    ("value", "reads_clock"),
    [
        ("date'today'", True),
        ("timestamp ' NOW '", True),
        ("timestamp_ntz'tomorrow'", True),
        ('timestamp_ltz"yesterday"', True),
        ("date 'today UTC'", True),
        ("cast('today+01:00' as date)", True),
        ("date'epoch'", False),
        ("date'2024-01-01'", False),
        ("'today'", False),
        ("cast('today' as string)", False),
        ("date'Yesterday once more'", False),
        ("timestamp(concat('to', 'day'))", False),
    ],
)
def test_a_literal_of_the_current_time(value: str, reads_clock: bool) -> None:
    # Spark's parser replaces these literals, so its plan does not show them.
    with pytest.raises(NotIncremental) if reads_clock else nullcontext():
        parsing.refuse_replaced(f"select id from flights where day < {value}")


def test_each_reason_of_the_sql_has_a_query() -> None:
    assert {*REFUSED} == {*Reason} - NOT_IN_THE_SQL


def test_the_page_has_the_words_of_each_reason() -> None:
    page = PAGE.read_text()
    missing = [reason.name for reason in Reason if f"`{reason.value.replace('{}', '…')}`" not in page]
    assert missing == []


# -- incremental ------------------------------------------------------------------------------------------------------

# A query -> its key, its GROUP BY columns, and for each driving table the tables joined to it.
INCREMENTAL: dict[str, tuple[str, str | None, dict[str, str]]] = {
    "select * from flights": ("id", None, {"flights": ""}),
    "SELECT F.Id AS Number, F.CARRIER FROM S.FLIGHTS AS F": ("number", None, {"flights": ""}),
    "from flights select id where delay > 1": ("id", None, {"flights": ""}),
    "select id, carrier as day, day as other from flights order by id": ("id", None, {"flights": ""}),
    "(select (id), day from flights)": ("id", None, {"flights": ""}),
    "select id as number, number + 1 as next from flights": ("number", None, {"flights": ""}),
    "select id + 1 as id, id as carrier from flights": ("carrier", None, {"flights": ""}),
    "select /*+ repartition(3) */ id from flights": ("id", None, {"flights": ""}),
    # dbt's --empty writes this.
    "select id from (select * from flights where false limit 0) _dbt_limit_subq_flights": (
        "id",
        None,
        {"flights": ""},
    ),
    "select rate, day, carrier from rates": ("carrier day", None, {"rates": ""}),
    "select `id`, `Text` as text from `my.table`": ("id", None, {"my.table": ""}),
    "select upper(text) as text from log where text is not null": ("", None, {"log": ""}),
    "select text from log union all select upper(text) from log": ("", None, {"log": ""}),
    "select id, day from late where day > date'2024-01-01'": ("id", None, {"flights": ""}),
    "select * from late_names": ("id", None, {"flights": "carriers"}),
    "with x(a, b) as (select id, carrier from flights) select b, a from x": ("a", None, {"flights": ""}),
    # CTEs with the names of tables, and of other CTEs.
    "with flights as (select * from s.flights where delay > 3) select id from flights": (
        "id",
        None,
        {"flights": ""},
    ),
    "with log as (select * from flights), x as (with log as (select * from log) select * from log) select * from x": (
        "id",
        None,
        {"flights": ""},
    ),
    "with x as (select * from log), log as (select * from flights) select * from x": ("", None, {"log": ""}),
    "with x as (with carriers as (select * from flights) select * from carriers) "
    "select x.id, carriers.name from x left join carriers on carriers.carrier = x.carrier": (
        "id",
        None,
        {"flights": "carriers"},
    ),
    "with carriers as (select * from flights) select c.id, d.name from carriers c join s.carriers d using (carrier)": (
        "id",
        None,
        {"flights": "carriers"},
    ),
    # Star joins.
    "select f.id, c.name, s.status, r.rate from flights f join carriers c on f.carrier = c.carrier "
    "left join status s on (s.id = f.id and s.status <> 'x') left join rates r on r.day = f.day and f.carrier <=> r.carrier": (
        "id",
        None,
        {"flights": "carriers status rates"},
    ),
    "select id, carrier, name from flights left join carriers using (carrier)": (
        "id",
        None,
        {"flights": "carriers"},
    ),
    "with c as (select * from carriers) select f.id, a.name, b.name as other from flights f "
    "left join c a on a.carrier = f.carrier left join c b on b.carrier = f.carrier": (
        "id",
        None,
        {"flights": "carriers carriers"},
    ),
    "select f.id, g.delay from flights f left join flights g on g.id = f.id": (
        "id",
        None,
        {"flights": "flights"},
    ),
    "select id, d.n from flights left join carriers as d(k, n) on d.k = flights.carrier": (
        "id",
        None,
        {"flights": "carriers"},
    ),
    # UNION ALL.
    "select 'f' as kind, id, carrier from flights union all (select 's', id, status from status)": (
        "kind id",
        None,
        {"flights": "", "status": ""},
    ),
    "select * from (select 1 as kind, id from flights union all select 2, id from status) u where u.kind = 1": (
        "kind id",
        None,
        {"flights": "", "status": ""},
    ),
    # GROUP BY.
    "select carrier, count(*) as n from flights group by carrier": ("carrier", "carrier", {"flights": ""}),
    "select count(*) as n, upper(carrier) as name from flights group by name": (
        "name",
        "name",
        {"flights": ""},
    ),
    "select upper(carrier) as day, count(*) as n from flights group by upper(carrier)": (
        "day",
        "day",
        {"flights": ""},
    ),
    "select carrier, day, sum(delay) as delay from flights group by 1, flights.day, carrier": (
        "carrier day",
        "carrier day",
        {"flights": ""},
    ),
    "select day, count(*) as n, max(delay) as delay from flights group by all": (
        "day",
        "day",
        {"flights": ""},
    ),
    "select carrier, 'x' as kind, count(*) as n from flights group by carrier, 'x'": (
        "carrier kind",
        "carrier kind",
        {"flights": ""},
    ),
    "select distinct carrier, day from flights": ("carrier day", "carrier day", {"flights": ""}),
    "select c.name, count(*) filter (where f.delay > 1) as late, count(distinct f.day) as days "
    "from flights f left join carriers c on c.carrier = f.carrier group by c.name": (
        "name",
        "name",
        {"flights": "carriers"},
    ),
    "with n as (select carrier, count(*) as n from flights group by carrier having sum(delay) > 3) "
    "select n * 2 as twice, carrier as code from n": ("code", "code", {"flights": ""}),
    "select kind, carrier, count(*) as n from (select 'f' as kind, carrier from flights union all "
    "select 'c', carrier from carriers) group by kind, carrier": (
        "kind carrier",
        "kind carrier",
        {"flights": "", "carriers": ""},
    ),
    "select text, count(*) as n from log group by text": ("text", "text", {"log": ""}),
}


@pytest.mark.parametrize("sql", INCREMENTAL)
def test_a_query_that_is_incremental(sql: str) -> None:
    key, groups, drives = INCREMENTAL[sql]
    query = read(sql)
    assert query.refusal is None
    assert query.key == tuple(key.split())
    assert query.groups == (None if groups is None else tuple(groups.split()))
    found = {
        query.reads[branch.driver].table.name.identifier: " ".join(
            query.reads[join.read].table.name.identifier for join in branch.joins
        )
        for branch in query.branches
    }
    assert found == drives


def test_join_keys() -> None:
    query = read("select f.id, r.rate from flights f left join rates r on r.day = f.day and f.carrier = r.carrier")
    assert [dict(join.keys) for join in query.branches[0].joins] == [{"carrier": "carrier", "day": "day"}]


@pytest.mark.parametrize(
    ("sql", "keeps"),
    [
        ("select * from flights order by id", True),
        ("select f.id, c.name from flights f left join carriers c using (carrier)", True),
        ("select 'a' as kind, id from flights union all select 'b', id from status", True),
        ("select * from flights where delay > 1", False),
        ("select * from flights limit 0", False),
        ("select f.id, c.name from flights f join carriers c using (carrier)", False),
        ("with f as (select * from flights where delay > 1) select id from f", False),
        ("select 'a' as kind, id from flights union all select 'b', id from status where id > 1", False),
        ("select id, count(*) as n from flights group by id", False),
    ],
)
def test_whether_each_driving_row_gives_a_row(sql: str, keeps: bool) -> None:
    assert read(sql).keeps_rows is keeps


# -- the text ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select id from flights", "select id from PUT as `flights`"),
        ("select f.id from `s` . `flights` f where f.id > 1", "select f.id from PUT f where f.id > 1"),
        ("select 'flights' as k, id /* flights */\nfrom flights -- it's flights", None),
        ("select 'ünïcödé 😀 flights' as k, id from flights", None),
        ("select r'a\\' as k, \"flights\" as l, 'it\\'s' as m, id from flights", None),
        ("select /* a /* b */ flights */ id from flights", None),
        (
            "with flights as (select * from s.flights) select id from flights",
            "with flights as (select * from PUT as `flights`) select id from flights",
        ),
        # A CTE that is read twice occurs once in the text.
        (
            "with c as (select * from carriers) select f.id, a.name, b.name as other from status f "
            "left join c a on a.carrier = f.status left join c b on b.carrier = f.status",
            "with c as (select * from PUT as `carriers`) select f.id, a.name, b.name as other from PUT f "
            "left join c a on a.carrier = f.status left join c b on b.carrier = f.status",
        ),
        (
            "select id from late",
            "select id from (\nselect * from PUT as `flights` where delay > 15\n) as late",
        ),
        ("select `Id` from `my.table`", "select `Id` from PUT as `my.table`"),
    ],
)
def test_other_tables_are_put_into_the_text(sql: str, expected: str | None) -> None:
    query = read(sql)
    assert query.refusal is None
    put = query.spliced(dict.fromkeys(range(len(query.reads)), "PUT"))
    if expected is None:
        # The only `flights` outside comments and strings follows the last FROM.
        at = sql.rindex("from flights") + len("from ")
        expected = f"{sql[:at]}PUT as `flights`{sql[at + len('flights') :]}"
    assert put == expected


@pytest.mark.parametrize(
    ("having", "rest"),
    [
        ("having count(*) > 1", ""),
        ("HAVING n > (1 + 2) and max(delay) < 3 ", "order by n"),
        ("having not (n = 1)", ""),
    ],
)
def test_having_is_left_out_of_the_text(having: str, rest: str) -> None:
    sql = f"select carrier, count(*) as n from flights group by carrier {having}{rest}"
    assert read(sql).spliced({}, without_having=True) == sql.replace(having, "")


def test_having_of_a_cte_is_left_out_of_the_text() -> None:
    sql = (
        "with n as (select carrier, count(*) as n from flights group by carrier having n > 1) select carrier, n from n"
    )
    assert read(sql).spliced({}, without_having=True) == sql.replace("having n > 1", "")


def test_a_query_that_is_not_incremental_has_its_tables_in_the_text() -> None:
    query = read("select f.id from flights f where f.carrier in (select c.carrier from carriers c) limit 3")
    assert query.refusal is not None
    assert [read.table.name.identifier for read in query.reads] == ["flights", "carriers"]
    assert query.spliced({0: "A", 1: "B"}) == (
        "select f.id from A f where f.carrier in (select c.carrier from B c) limit 3"
    )


def test_the_query_of_a_view_has_the_names_of_the_view():
    described = [("c", "int", None), ("a`b", "int", None), ("", "", ""), ("# Detailed Table Information", "", "")]
    text = "select x, y from db.t"
    found = definitions._query_of_view([*described, ("View Text", text, "")])
    assert found == f"select * from (\n{text}\n) as `__dbt_view` (`c`, `a``b`)"
    assert definitions._query_of_view(described) is None


def test_a_field_of_a_struct_is_not_a_column_of_the_same_name() -> None:
    query = read("select carrier, info.carrier as other, count(*) as n from flights group by carrier, info.carrier")
    assert query.groups == ("carrier", "other")


def test_a_column_after_using_is_not_that_of_the_joined_table() -> None:
    query = read(
        "select carrier, r.carrier as other, count(*) as n from flights f left join rates r using (carrier, day) "
        "group by carrier, r.carrier"
    )
    assert query.groups == ("carrier", "other")
    query = read(
        "select carrier, count(*) as n from flights f left join rates r using (carrier, day) group by f.carrier"
    )
    assert query.groups == ("carrier",)


def test_a_window_of_time_drops_rows_without_a_time() -> None:
    assert read("select id, day from flights").keeps_rows
    assert not read("select id, window(day, '1 day').start as day from flights").keeps_rows


@pytest.mark.parametrize("name", [("lake", "s", "t"), ("s", "t"), ("t",)])
def test_the_missing_parts_of_a_name_are_those_of_the_target(name: tuple[str, ...]) -> None:
    adapter: Any = SimpleNamespace(
        credentials=SimpleNamespace(database="lake", schema="s", paimon_catalogs={"lake"}),
        handle=SimpleNamespace(embedded=lambda: None),
        view_catalog="lake",
        get_relation=lambda *parts: (
            PaimonRelation.create(*parts, type="table") if parts == ("lake", "s", "t") else None
        ),
    )
    tables: Any = SimpleNamespace(existing=lambda _: ExistingTable())
    found = definitions.Definitions(adapter, tables)._lookup([], name)
    assert isinstance(found, SourceColumns)
    assert found.name == TableName("lake", "s", "t")


@pytest.mark.parametrize(
    ("relation", "options", "reason"),
    [
        (("spark_catalog", "s", "t", "table"), {"scan.snapshot-id": "1"}, Reason.FUNCTION),
        (("lake", "s", "t", "table"), {"scan.fallback-branch": "b"}, Reason.FUNCTION),
        (("lake", "s", "t", "table"), {"branch": "main"}, None),
    ],
)
def test_relations_that_are_not_read_by_their_newest_snapshot(
    relation: tuple[str, str, str, str], options: dict[str, str], reason: Reason | None
) -> None:
    catalog, schema, identifier, kind = relation
    found = PaimonRelation.create(database=catalog, schema=schema, identifier=identifier, type=kind)
    adapter: Any = SimpleNamespace(
        credentials=SimpleNamespace(database=catalog, schema=schema, paimon_catalogs={catalog}),
        handle=SimpleNamespace(embedded=lambda: None),
        view_catalog=catalog,
        get_relation=lambda *_: found,
    )
    tables: Any = SimpleNamespace(existing=lambda _: ExistingTable(options=options))
    read = definitions.Definitions(adapter, tables)
    if reason is None:
        assert isinstance(read._lookup([], (identifier,)), SourceColumns)
        return
    with pytest.raises(NotIncremental) as refusal:
        read._lookup([], (identifier,))
    assert refusal.value.reason is reason


@pytest.mark.parametrize(
    "call", ["sys.max_pt('s.flights')", "lake.`sys`.MAX_PT('s.flights')", "max_pt('s.flights')", "identifier(cutoff)"]
)
def test_a_call_that_is_replaced_before_the_plan_shows_it(call: str) -> None:
    tables: Any = {TableName("lake", "s", "flights"): None}
    plan = Analyzed("", (), frozenset({"org.apache.spark.sql.catalyst.plans.logical.Project"}), tables=tables)
    adapter: Any = SimpleNamespace(
        credentials=SimpleNamespace(database="lake", schema="s"),
        handle=SimpleNamespace(embedded=lambda: SimpleNamespace(analyzed=lambda _: plan)),
        connections=SimpleNamespace(exception_handler=nullcontext),
    )
    found = definitions.Definitions(adapter, SimpleNamespace())  # type: ignore[arg-type]
    sql = "select id, delay from lake.s.flights where day = "
    assert found._checked_types(read(f"{sql}'2026-01-01'"), prepared=False) == {}
    with pytest.raises(NotIncremental) as refusal:
        found._checked_types(read(sql + call), prepared=False)
    assert refusal.value.reason is Reason.FUNCTION


@pytest.mark.parametrize(
    "sql", ["select id from lake.s.flights where delay > cutoff", "select id, session.x from lake.s.flights"]
)
def test_a_session_variable_over_a_server(sql: str) -> None:
    # Another node may have created it in the same session, so Spark can analyze the query.
    adapter: Any = SimpleNamespace(
        handle=SimpleNamespace(embedded=lambda: None),
        query_columns=lambda _: (),
        connections=SimpleNamespace(exception_handler=nullcontext),
    )
    with pytest.raises(NotIncremental) as refusal:
        definitions.Definitions(adapter, SimpleNamespace())._checked_types(read(sql), prepared=False)  # type: ignore[arg-type]
    assert refusal.value.reason is Reason.FUNCTION


@pytest.mark.parametrize("name", ["flights", "s.flights", "lake.s.flights"])
def test_a_short_name_over_a_server(name: str) -> None:
    # The session's current schema may differ from the target's, and may have a table with the same name.
    adapter: Any = SimpleNamespace(
        handle=SimpleNamespace(embedded=lambda: None),
        query_columns=lambda _: (),
        connections=SimpleNamespace(exception_handler=nullcontext),
    )
    found = definitions.Definitions(adapter, SimpleNamespace())  # type: ignore[arg-type]
    query = read(f"with late as (select id from {name}) select id from late")
    with nullcontext() if name.startswith("lake.") else pytest.raises(NotIncremental, match="has no catalog"):
        found._checked_types(query, prepared=False)


@pytest.mark.parametrize(
    "sql",
    [
        "select id, transform(array(1, 2), x -> transform(array(delay), y -> x + y + id)) as sums from flights",
        "select id, timestampdiff(day, f.day, date'2026-01-01') as days from flights as f",
        "select w.id, w.delay + 1 as late from (select id, delay from s.flights) as w",
        "with n (number, late) as (select id, delay from flights) select number, late from n where n.late > 1",
        "select f.a, named_struct('x', f.d).x as x, f.e.carrier from flights as f (a, b, c, d, e)",
        "select delay + 1 as late, late * 2 as later, id from flights",
        "select flights.id, info.carrier as code from s.flights where info.id > 1",
        "select carrier, count(*) as n from flights group by carrier having n > 3",
    ],
)
def test_a_name_that_is_not_a_session_variable(sql: str) -> None:
    refusal = why_not(sql)
    assert refusal is None, refusal.words


# -- broadcast hints --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "changed", "rows", "hinted"),
    [
        ("select carrier, count(*) as n from flights group by carrier", {"flights": 1_000_000}, 9, True),
        ("select carrier, count(*) as n from flights group by carrier", {"flights": 1_000_001}, 9, False),
        # One changed row of a joined table may change every row of the driving table.
        (
            "select c.name, count(*) as n from flights f left join carriers c using (carrier) group by c.name",
            {"carriers": 1},
            1_000_000,
            True,
        ),
        (
            "select c.name, count(*) as n from flights f left join carriers c using (carrier) group by c.name",
            {"carriers": 1},
            1_000_001,
            False,
        ),
    ],
)
def test_spark_broadcasts_changed_rows_only_if_they_are_few(
    sql: str, changed: dict[str, int], rows: int, hinted: bool
) -> None:
    query = read(sql)
    sources = {
        each.name: PinnedSource(
            each.name,
            2,
            1,
            changes="changes" if each.name.identifier in changed else "",
            most=changed.get(each.name.identifier, 0),
        )
        for each in query.tables
    }
    names = frozenset(name for name in sources if name.identifier in changed)
    view = View(sql, Mode.INCREMENTAL, query)
    totals = {TableName("lake", "s", "flights"): rows}
    pins = incremental.Pins(query, sources, names)
    refresh = incremental.planned(view, pins, Refresh(RefreshKind.FULL), totals, groups=3)
    assert any("broadcast(__new)" in text for text in refresh.groups_sql) is hinted
