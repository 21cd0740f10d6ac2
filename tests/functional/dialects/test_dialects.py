"""Errors of queries in other dialects suggest Spark's syntax, which works; other errors get no such remedy."""

from __future__ import annotations

import pytest
from dbt.tests.util import get_connection
from dbt_common.exceptions import DbtDatabaseError
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.errors.dialects import FUNCTIONS, HINTS, TYPES

# Spark 4 accepts some of the syntax: `::`, `* except`, string types.
MORE_WORKS = VERSIONS.spark.major >= 4
# In these messages, Spark 4 itself names the remedy.
OWN_WORDS = (
    "Remove the trailing comma",
    "does not represent a correct collation name",
    "Java's pattern letters",
)
DATA = """
create or replace temporary view t as
select 1 as id, 'Ann' as name, timestamp'2024-01-02 03:04:05' as ts, 1.5d as amount, true as ok, '{"a": 1}' as js,
  array(1, 2) as numbers
"""

# A query, and part of its remedy.
FAILING = [
    ("select cast(ts as timestamp(3)) from t", "timestamp takes no precision"),
    ("select cast(id as int(11)) from t", "Write int"),
    ("select id, name, from `d`.`t`", "remove the comma before FROM"),
    ("optimize t", "the `maintenance` config"),
    ("/* a comment */ vacuum t retain 168 hours", "the `maintenance` config"),
    ("select id::bigint from t", "cast(x as type)"),
    ("select ok::boolean::int from t", "cast(x as type)"),
    ("select\n  id,\n  '2024-01-01'::timestamp as x\nfrom t", "cast(x as type)"),
    ("select (id / 100)::numeric(16, 2) from t", "cast(x as type)"),
    ("select js:a from t", "get_json_object(text, '$.a')"),
    ('select id as "My Id" from t', "quoted in backticks"),
    ('select t."id" from t', "quoted in backticks"),
    ('select id from "d"."t"', "quoted in backticks"),
    ("select id as 'x' from t", "quoted in backticks"),
    ("select [id] from t", "quoted in backticks"),
    ("select id from [t]", "quoted in backticks"),
    (
        "select id from t qualify row_number() over (partition by id order by ts) = 1",
        "as n from …) where n = 1",
    ),
    ("select id, row_number() over (order by id) as n from t\nqualify n = 1", "as n from …) where n = 1"),
    ("select top 1 id from t", "limit n"),
    ("select listagg(name, ',') within group (order by name) from t", "array_join(array_sort(collect_list(x)), ',')"),
    ("select array_agg(name order by id) from t", "sort_array"),
    ("select string_agg(concat(name, 'x'), ',' order by id) from t", "sort_array"),
    ("select id from t limit 0, 1", "limit n offset m"),
    ("select id from t offset 0 rows fetch next 1 rows only", "offset m, after limit"),
    ("select id from t fetch first 1 rows only", "limit n"),
    ("select js ->> 'a' from t", "get_json_object"),
    ("select js -> 'a' from t", "get_json_object"),
    ("select * exclude (id) from t", "dbt_utils.star"),
    ("select * except (id) from t", "dbt_utils.star"),
    ("select * exclude id from t", "dbt_utils.star"),
    ("select * replace (1 as id) from t", "dbt_utils.star"),
    ("create or replace temp table x as select 1 as id", "materialized='ephemeral'"),
    ("select safe_cast(id as string) from t", "try_cast(x as type)"),
    ("select cast(amount as double precision) from t", "as double"),
    ("select array[1, 2]", "array(1, 2)"),
    ("select id from t where name ~* 'a.*'", "rlike"),
    ("select id from t where name similar to 'A%'", "rlike"),
    ("select ts at time zone 'UTC' from t", "from_utc_timestamp"),
    ("select id # a comment\nfrom t", "begins with --"),
    ("select id // a comment\nfrom t", "begins with --"),
    ("select $$abc$$", "r'text'"),
    ("select id from t sample (10)", "tablesample"),
    ("with recursive r as (select 1 as n) select * from r", "no recursion"),
    ("select id from t where id in unnest(array(1))", "array_contains(array, x)"),
    ("select id from t where name collate nocase = 'ann'", "lower(x)"),
    ("select name from t union all by name select name from t", "same order"),
    ("select first_value(id ignore nulls) over (order by id) from t", "first_value(x) ignore nulls over"),
    ("select t.* from t as t asof join t as u on t.id = u.id", "row_number()"),
    ("select {'a': 1}", "named_struct('a', 1)"),
    ("select id, , name from t", "remove the extra comma"),
    ("select id, from t", "remove the comma before FROM"),
    ("select date_trunc(ts, month) from t", "date_trunc('month', ts)"),
    ("select date_trunc(month, ts) from t", "date_trunc('month', ts)"),
    ("select date_part(year, ts) from t", "date_part('year', ts)"),
    ("select last_day(ts, year) from t", "last_day(date) takes no unit"),
    ("select date_diff(current_date, ts, day) from t", "datediff(day, a, b)"),
    ("select u from t, unnest(numbers) as u", "lateral view explode(array)"),
    ("select f.value from t, table(flatten(numbers)) as f", "lateral view explode(array)"),
    ("select f.value from t, lateral flatten(input => numbers) as f", "lateral view explode(array)"),
    ("select * from generate_series(1, 3)", "explode(sequence(1, 3))"),
    ("select sysdate", "current_timestamp()"),
    ("select localtimestamp", "current_timestamp()"),
    ("select dateadd('day', 1, ts) from t", "dateadd(day, 1, ts)"),
    ("select datediff('day', ts, ts) from t", "without quotes"),
    ("select date_add(ts, interval 1 day) from t", "ts + interval 1 day"),
    ("select to_char(ts, 'YYYY-MM-DD') from t", "date_format(ts, …)"),
    ("select trunc(amount, 1) from t", "cast(x * 10 as bigint) / 10"),
    ("select name = any (array('Ann')) from t", "array_contains(array, x)"),
    ("select date_format(ts, '%Y-%m') from t", "'yyyy-MM-dd HH:mm:ss'"),
    ("select to_date('20240101', 'YYYYMMDD')", "'yyyy-MM-dd HH:mm:ss'"),
    ("select to_number('1')", "cast(x as decimal(18, 2))"),
    ("select try_to_number('1')", "try_cast"),
    ("select to_varchar(id) from t", "cast(x as string)"),
    ("select trunc(amount) from t", "cast(x as bigint)"),
    ("select date_part(epoch_second, ts) from t", "unix_timestamp(ts)"),
    ("select date(2024, 1, 1)", "make_date(y, m, d)"),
    ("select isnull(id, 0) from t", "coalesce(x, y)"),
    ("select extract(epoch from ts) from t", "unix_timestamp(ts)"),
    ("select extract(isodow from ts) from t", "dayofweek_iso"),
    ("select ts - interval '1 month 2 days' from t", "separate intervals"),
    ("select E'a'", "already interprets"),
    ("select b'abc'", "X'…'"),
    ("select id from t with (nolock)", "remove the table hint"),
    ("select distinct on (id) id, name from t", "where n = 1"),
    ("select cast(id as varchar) from t", "varchar is string"),
    ("select cast(amount as number(10, 2)) from t", "decimal(10, 2)"),
    ("select * from t at(offset => -300)", "timestamp as of"),
    ("select * from t before (statement => '01a')", "at(ref('x'), timestamp='…')"),
]

# Syntax that the remedies suggest or that other dialects share with Spark; each query returns one row.
RIGHT = """
select if(ok, 1, 0), id, cast(id as bigint), try_cast(name as int), get_json_object(js, '$.a'), from_json(js, 'a int')
from t where 'a' ilike any ('A', 'b') and contains(name, 'A') limit 1 offset 0
---
select n from (select id as n, row_number() over (partition by id order by ts) as row_of from t) where row_of = 1
---
select array_join(collect_list(name), ','), sort_array(collect_list(struct(id, name))).name, bool_and(ok), bool_or(ok),
  count_if(ok), max_by(id, ts), min_by(id, ts), approx_percentile(id, array(0.25, 0.5)), array_agg(name) from t
---
select e.x from t lateral view explode(numbers) e as x where e.x = 1
---
select explode(sequence(1, 1)) as x
---
select id from range(1, 2)
---
select window(ts, '15 minutes').start from t
---
select from_utc_timestamp(ts, 'UTC'), convert_timezone('UTC', 'Asia/Shanghai', timestamp_ntz'2024-01-01 00:00:00'),
  date_trunc('month', ts), date_part('year', ts), last_day(ts), trunc(ts, 'year') + interval 1 year - interval 1 day, datediff(day, ts, ts), dateadd(day, 1, ts),
  ts + interval 1 day, ts + interval 1 month + interval 2 days, ts + interval '1 day', date_add(date'2024-01-01', 1),
  date_format(ts, 'yyyy-MM-dd HH:mm:ss'), date_format(ts, 'EEE MMM'), timestampdiff(day, ts, ts), unix_timestamp(ts),
  extract(dayofweek_iso from ts), make_date(2024, 1, 2), make_timestamp(2024, 1, 2, 3, 4, 5), weekofyear(ts), timestamp('2024-01-01'), current_timestamp(), now(),
  to_date('20240101', 'yyyyMMdd'), to_timestamp('2024', 'yyyy'), datediff(ts, ts) from t
---
select nullif(id, 0), if(coalesce(id, 0) = 0, 0, 1 / id), cast(amount as bigint), array(1, 2), struct(1, 2), named_struct('a', 1), map('a', 1), size(numbers), array_join(numbers, ','),
  array_contains(numbers, 1), aggregate(numbers, 0, (a, x) -> a + x), nvl2(id, 1, 2), coalesce(id, 0), uuid(),
  floor(amount), try_divide(1, 0), 5 div 2, power(id, 2), hex('x'), sha2(name, 256), xxhash64(id), id & 1,
  locate('n', name), instr(name, 'n'), startswith(name, 'A'), endswith(name, 'n'), regexp_like(name, 'A'),
  regexp_extract_all(name, 'n', 0), split_part(name, 'n', 1), X'00', encode('a', 'utf-8'), r'\\d',
  first_value(id) ignore nulls over (order by id), id / sum(id) over () from t where name rlike '(?i)a.*'
---
select id as `My Id`, name from t tablesample (100 percent) where `id` = 1 and name = "Ann";
"""

# Other errors, some in queries with text that looks like another dialect.
OTHERS = [
    "select no_such_column from t",
    "select no_such_function(id), 'a::b' as x from t",
    "select id, 'qualify', \"top 1\" as x from t group t",
    "select * from no_such_table where name <> 'x ->> y'",
    "select cast(id as no_such_type) from t",
    "select id from t where id =",
    "selec id from t",
]


class TestDialects:
    @pytest.fixture(scope="class")
    def models(self):
        return {}

    @pytest.fixture(scope="class")
    def run(self, project):
        """Function: run a query and return its error, if any."""

        def query(sql: str) -> str | None:
            try:
                project.adapter.query(sql)
            except DbtDatabaseError as exc:
                return str(exc)
            return None

        with get_connection(project.adapter):
            project.adapter.query(DATA)
            yield query

    def test_errors_name_sparks_way(self, run):
        told = {query: run(query) for query, _ in FAILING}
        if MORE_WORKS:
            own = {query for query, text in told.items() if not text or any(words in text for words in OWN_WORDS)}
        else:
            own = set()
        failed = {query: text for query, text in told.items() if query not in own}
        assert {query: failed[query] for query, said in FAILING if said not in (failed.get(query, said) or "")} == {}
        unused = [hint for hint in HINTS if not any(hint.advice in (text or "") for text in told.values())]
        assert unused == [] or MORE_WORKS

    def test_functions_and_types(self, run):
        queries = {f"select {name}(1)": advice for name, advice in FUNCTIONS.items()}
        queries |= {f"select cast(null as {name})": f"{name} is {advice}" for name, advice in TYPES.items()}
        told = {query: run(query) for query in queries}
        # Spark 4 has some of these functions, with other arguments.
        known = {query for query, text in told.items() if MORE_WORKS and (not text or "DATATYPE_MISMATCH" in text)}
        assert {
            query: told[query]
            for query, advice in queries.items()
            if query not in known and advice not in (told[query] or "")
        } == {}

    def test_sparks_ways_work(self, run, project):
        for query in RIGHT.split("---"):
            assert len(project.adapter.query(query)) == 1, query

    def test_other_errors_have_no_such_remedy(self, run):
        told = {query: run(query) for query in OTHERS}
        assert {query: text for query, text in told.items() if not text or "In Spark SQL:" in text} == {}
