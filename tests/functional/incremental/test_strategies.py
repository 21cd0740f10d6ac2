"""Each incremental strategy: the rows after an increment, and after one that fails."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.writing.model_query import is_stable_plan

# Two batches, and name -> (config, rows expected after both)
ONE = "(1, 'a', 10), (2, 'b', 20)"
TWO = "(2, 'B', 200), (3, 'c', 30)"
UPSERTED = [(1, "a", 10), (2, "B", 200), (3, "c", 30)]

CASES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "append": ("incremental_strategy='append'", [(1, "a", 10), (2, "B", 200), (2, "b", 20), (3, "c", 30)]),
    "upsert": ("primary_key='id'", UPSERTED),
    "merge": ("incremental_strategy='merge', primary_key='id'", UPSERTED),
    "merge_append_table": ("incremental_strategy='merge', unique_key='id'", UPSERTED),
    "merge_update_columns": (
        "incremental_strategy='merge', unique_key='id', merge_update_columns=['n']",
        [(1, "a", 10), (2, "b", 200), (3, "c", 30)],
    ),
    "merge_exclude_columns": (
        "incremental_strategy='merge', primary_key='id', merge_exclude_columns=['word']",
        [(1, "a", 10), (2, "b", 200), (3, "c", 30)],
    ),
    "merge_conditions": (
        "incremental_strategy='merge', unique_key='id', "
        "matched_condition='DBT_INTERNAL_SOURCE.n < DBT_INTERNAL_DEST.n', "
        "not_matched_condition='DBT_INTERNAL_SOURCE.n > 1000'",
        [(1, "a", 10), (2, "b", 20)],
    ),
    "merge_delete": (
        "incremental_strategy='merge', primary_key='id', "
        "merge_delete_condition=\"DBT_INTERNAL_SOURCE.word in ('B', 'c')\"",
        [(1, "a", 10)],
    ),
    "merge_delete_where_known": (
        "incremental_strategy='merge', primary_key='id', "
        "merge_delete_condition=\"case DBT_INTERNAL_SOURCE.word when 'B' then true end\"",
        [(1, "a", 10), (3, "c", 30)],
    ),
    "merge_predicates": (
        "incremental_strategy='merge', unique_key='id', incremental_predicates=['DBT_INTERNAL_DEST.n > 1000']",
        [(1, "a", 10), (2, "B", 200), (2, "b", 20), (3, "c", 30)],
    ),
    "partial_update": (
        "incremental_strategy='partial_update', primary_key='id', merge_engine='partial-update'",
        UPSERTED,
    ),
    "insert_overwrite": ("incremental_strategy='insert_overwrite', partition_by='id'", UPSERTED),
    "delete_insert": ("incremental_strategy='delete+insert', unique_key='id'", UPSERTED),
    "delete_insert_by_key": (
        "incremental_strategy='delete+insert', primary_key=['id', 'word'], unique_key='id'",
        UPSERTED,
    ),
}


def model(config: str, second: str = TWO) -> str:
    """A model whose second run reads another batch; `fail` makes that run fail in the middle.

    Its key is a smallint. Without the adapter, Paimon 0.9 fails or finds no row if a query filters such a column.
    """
    return (
        "{{ config(materialized='incremental', " + config + ") }}\n"
        "select cast(id as smallint) as id, word, cast(if({{ var('fail', false) }}, raise_error('stop'), n) as int) as n from values\n"
        "{% if is_incremental() %}" + second + "{% else %}" + ONE + "{% endif %}\n"
        "as t(id, word, n)"
    )


class TestStrategies:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}_model.sql": model(config) for name, (config, _) in CASES.items()}

    @pytest.fixture(scope="class")
    def first_run(self, project):
        return run_dbt(["run"])

    def test_failed_increment_keeps_rows_and_snapshots(self, project, rows, first_run):
        before = {name: rows(f"select * from {{schema}}.{name}_model") for name in CASES}
        results = run_dbt(["run", "--vars", "fail: true"], expect_pass=False)
        assert {result.status for result in results} == {"error"}
        for name in CASES:
            assert sorted(rows(f"select * from {{schema}}.{name}_model")) == sorted(before[name]), name
            assert len(rows(f"select * from {{schema}}.`{name}_model$snapshots`")) == 1, name

    def test_increment(self, project, rows, first_run):
        run_dbt(["run"])
        for name, (_, expected) in CASES.items():
            assert sorted(rows(f"select * from {{schema}}.{name}_model")) == expected, name
            found = sorted(rows(f"select * from {{schema}}.{name}_model where id in (2, 3)"))
            assert found == [row for row in expected if row[0] > 1], name

    def test_full_refresh_keeps_snapshots_and_starts_over(self, project, rows, first_run):
        run_dbt(["run", "--full-refresh"])
        for name in CASES:
            assert sorted(rows(f"select * from {{schema}}.{name}_model")) == [(1, "a", 10), (2, "b", 20)], name
            assert len(rows(f"select * from {{schema}}.`{name}_model$snapshots`")) >= 3, name

    def test_nothing_is_left_behind(self, project, rows, first_run):
        tables = {row[1] for row in rows("show tables in {schema}")}
        assert tables == {f"{name}_model" for name in CASES}


class TestNullKeys:
    """A NULL in a unique_key equals nothing, as in dbt's own adapters."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{strategy.partition('+')[0]}_by_{len(key)}.sql": "{{ config(materialized='incremental', "
            f"incremental_strategy='{strategy}', unique_key={key}) }}}} "
            "select * from values (1, 'a', {{ var('run', 1) }}), (1, null, {{ var('run', 1) }}) as v(id, part, run)"
            for strategy in ("merge", "delete+insert")
            for key in (["part"], ["id", "part"])
        }

    def test_rows_are_added(self, project, rows):
        run_dbt(["run"])
        assert len(run_dbt(["run", "--vars", "run: 2"])) == 4
        for name in ("merge_by_1", "merge_by_2", "delete_by_1", "delete_by_2"):
            found = sorted(rows(f"select coalesce(part, '-'), run from {{schema}}.{name}"))
            assert found == [("-", 1), ("-", 2), ("a", 2)], name


# Each part has one row on each of two days.
PARTS = """
{{ config(materialized='table', event_time='at') }}
select id, id % 100 as part, timestamp'2024-01-01' + make_interval(0, 0, 0, cast(id / 100 as int)) as at from range(200)
"""
CHANGING = """
{{{{ config(materialized='incremental', {config}) }}}}
select id, part, at, {{{{ var('run', 1) }}}} as run from {{{{ ref('parts') }}}}
{{% if var('run', 1) > 1 %}} {choice} {{% endif %}}
"""
DAYS = "incremental_strategy='microbatch', event_time='at', batch_size='day', begin='2024-01-01', partition_by='part'"
# name -> (config, how the second run selects rows)
OTHER_ROWS = {
    "replaced_at_random": ("incremental_strategy='delete+insert', unique_key='id'", "where rand() < 0.5"),
    "replaced_by_key_at_random": (
        "incremental_strategy='delete+insert', unique_key='id', primary_key=['id', 'run']",
        "where rand() < 0.5",
    ),
    "replaced_by_sample": (
        "incremental_strategy='delete+insert', unique_key='id'",
        "tablesample (50 percent)",
    ),
    "batches_at_random": (DAYS, "where rand() < 0.5"),
}
# The second run has each key twice, once with the `run` of the first run.
TWICE = "union all select id, part, at, 1 as run from {{ ref('parts') }}"
NEWEST = {
    "newest_of_rows": "incremental_strategy='delete+insert', unique_key='part', primary_key='id', sequence_field='run'",
    "newest_of_batches": DAYS.replace("partition_by='part'", "primary_key='id', sequence_field='run'"),
}


class TestOtherRowsEachTime:
    """A statement that reads a random query's rows twice gets the same rows both times."""

    @pytest.fixture(scope="class")
    def models(self):
        models = {
            f"{name}.sql": CHANGING.format(config=config, choice=choice)
            for name, (config, choice) in {**OTHER_ROWS, **{each: (NEWEST[each], TWICE) for each in NEWEST}}.items()
        }
        return models | {"parts.sql": PARTS}

    def test_no_row_is_lost_or_doubled(self, project, rows):
        run_dbt(["run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-03"])
        second = ["--event-time-start", "2024-01-02", "--event-time-end", "2024-01-03", "--vars", "run: 2"]
        run_dbt(["run", *second, "--exclude", "parts"])
        for name in OTHER_ROWS:
            found = rows(f"select id, run from {{schema}}.{name} order by id")
            changed = sum(run == 2 for _, run in found)
            assert [number for number, _ in found] == list(range(200)) and 0 < changed < 200, name
        # MERGE would fail if several rows matched one of the table.
        for name, changed in zip(NEWEST, (200, 100), strict=True):
            assert rows(f"select count(*), count_if(run = 2) from {{schema}}.{name}") == [(200, changed)], name

    def test_a_server_can_find_it_in_the_plan(self, project, rows):
        """A connection to a server has only the output of EXPLAIN; an embedded Spark has the plan itself."""
        many = ", ".join(f"{number} as c{number}" for number in range(20))
        found = {
            sql: is_stable_plan(rows(f"explain extended select * from (select {sql})")[0][0])
            for sql in (
                "id, max(part) over (partition by at) from {schema}.parts",
                "id from {schema}.parts where exists (select 1 from {schema}.parts where id > 5)",
                f"{many}, rand() as chance from {{schema}}.parts",
                "id, shuffle(array(1, id)) as ids from {schema}.parts",
                "uuid() as id from {schema}.parts",
                "part, collect_list(id) as ids from {schema}.parts group by part",
                "* from {schema}.parts tablesample (5 percent)",
                "* from {schema}.parts limit 5",
                "* from {schema}.parts order by at offset 5",
                "part, max_by(id, at) as id from {schema}.parts group by part",
                "* from (select *, row_number() over (order by at) as place from {schema}.parts) where place < 5",
                "* from {schema}.parts where at < now()",
                "part, any_value(id) as id from {schema}.parts group by part",
                "part, current_timestamp() as read_at from {schema}.parts",
            )
        }
        assert list(found.values()) == [True] * 2 + [False] * 11 + [True], found
        with project.adapter.connection_named("rows"):
            spark = project.adapter.handle.embedded()
            alike = {sql: spark.reads_alike(f"select {sql.format(schema=project.test_schema)}") for sql in found}
        assert alike == found
