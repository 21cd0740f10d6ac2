"""Microbatch: a batch replaces the rows of its window, in tables of any layout."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file

EVENTS = """
{{ config(materialized='table', event_time='at') }}
select id, cast(at as timestamp) as at from values
  (1, '2024-01-01 01:00:00'), (2, '2024-01-01 23:59:59.999999'), (3, '2024-01-02 00:00:00'), (4, '2024-01-03 12:00:00')
as t(id, at)
"""
CONFIG = "materialized='incremental', incremental_strategy='microbatch', event_time='at', batch_size='day', begin='2024-01-01'"
NAMES = {
    "append_table": "",
    "keyed_table": ", primary_key='id'",
    "coarse_partitions": ", partition_by='month'",
    "day_partitions": ", partition_by='day'",
}
# The key has the event time, so a row of the table has values of one batch only.
SUMMED = (
    ", partition_by='month', primary_key=['id', 'at', 'month'], merge_engine='aggregation', "
    "fields={'word': {'aggregate_function': 'sum'}, 'day': {'aggregate_function': 'last_value'}}"
)
IN_PYTHON = f"""
def model(dbt, session):
    dbt.config({CONFIG})
    if dbt.config.get('fail'):
        raise ValueError('stop')
    return dbt.ref('events').selectExpr('id', 'at', f"{{dbt.config.get('word')}} as word")
"""
IN_PYTHON_VARS = """
models: [{name: in_python, config: {word: "{{ var('word', 0) }}", fail: "{{ var('fail', false) }}"}}]
"""
# The event times in a run with `fail`: NULL, or a time in another batch.
STRAYS = {"keyed_table": "cast(null as timestamp)", "coarse_partitions": "at + interval 1 day"}


def model(extra: str, fails: str = "") -> str:
    at = f"{{{{ '{fails}' if var('fail', false) else 'at' }}}}" if fails else "at"
    stops = "false" if fails else "{{ var('fail', false) }}"
    return (
        "{{ config(" + CONFIG + extra + ") }}\n"
        f"select id, {at} as at, date_format(at, 'yyyy-MM') as month, date_format(at, 'yyyy-MM-dd') as day, "
        f"cast(if({stops}, raise_error('stop'), {{{{ var('word', 0) }}}}) as int) as word "
        "from {{ ref('events') }}"
    )


class TestMicrobatch:
    @pytest.fixture(scope="class")
    def models(self):
        in_python = {"in_python.py": IN_PYTHON, "in_python.yml": IN_PYTHON_VARS}
        in_sql = {f"{name}.sql": model(extra, STRAYS.get(name, "")) for name, extra in NAMES.items()}
        in_sql["summed.sql"] = model(SUMMED)
        return {"events.sql": EVENTS} | in_sql | in_python

    def test_batches(self, project, rows):
        window = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04"]
        tables = (*NAMES, "summed", "in_python")
        run_dbt(["run", *window])
        for name in tables:
            assert sorted(rows(f"select id, word from {{schema}}.{name}")) == [
                (1, 0),
                (2, 0),
                (3, 0),
                (4, 0),
            ], name

        # A failed batch leaves its window as it was, and commits nothing.
        snapshots = {name: rows(f"select count(*) from {{schema}}.`{name}$snapshots`") for name in tables}
        run_dbt(["run", "--exclude", "events", *window, "--vars", "fail: true"], expect_pass=False)
        for name in tables:
            assert sorted(rows(f"select id, word from {{schema}}.{name}")) == [
                (1, 0),
                (2, 0),
                (3, 0),
                (4, 0),
            ], name
            assert rows(f"select count(*) from {{schema}}.`{name}$snapshots`") == snapshots[name], name

        # A repeated day: its rows are replaced, the rows of other days stay.
        changed = EVENTS.replace("(2, '2024-01-01 23", "(5, '2024-01-01 23")
        write_file(changed, project.project_root, "models", "events.sql")
        one_day = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]
        run_dbt(["run", *one_day, "--vars", "word: 1"])
        for name in tables:
            assert sorted(rows(f"select id, word from {{schema}}.{name}")) == [
                (1, 1),
                (3, 0),
                (4, 0),
                (5, 1),
            ], name

        # --empty changes no rows, --sample only the sampled ones. --empty does not limit what a Python model reads.
        def words_of_day(name):
            return rows(f"select id, word from {{schema}}.{name} where at < '2024-01-02' order by id")

        run_dbt(["run", "--exclude", "events", "--empty", *one_day, "--vars", "word: 2"])
        for name in tables:
            assert words_of_day(name) == ([(1, 2), (5, 2)] if name == "in_python" else [(1, 1), (5, 1)]), name
        sample = ["--sample", "{'start': '2024-01-01 12:00:00', 'end': '2024-01-02'}"]
        run_dbt(["run", "--exclude", "events", *sample, "--vars", "word: 3"])
        for name in tables:
            assert words_of_day(name) == ([(1, 2), (5, 3)] if name == "in_python" else [(1, 1), (5, 3)]), name
            assert rows(f"select count(*) from {{schema}}.{name}") == [(4,)], name

    def test_no_setting_leaks(self, project, rows):
        assert rows("set spark.sql.sources.partitionOverwriteMode")[0][1].upper() == "STATIC"


class TestConcurrentBatches:
    """dbt runs the batches between the first and the last in parallel; none may remove another's rows."""

    # Six batches, of which dbt runs four at once.
    DAYS = 6

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return dbt_profile_target | {"threads": 4}

    @pytest.fixture(scope="class")
    def models(self):
        events = (
            "{{ config(materialized='table', event_time='at') }}\n"
            f"select id, timestamp '2024-01-01' + make_interval(0, 0, 0, id) as at from range({self.DAYS}) as t(id)"
        )
        return {"events.sql": events} | {f"{name}.sql": model(extra) for name, extra in NAMES.items()}

    def test_every_batch_is_there(self, project, rows):
        window = ["--event-time-start", "2024-01-01", "--event-time-end", f"2024-01-{self.DAYS + 1:02}"]
        for word in (0, 1):
            run_dbt(["run", *window, "--vars", f"word: {word}"])
            for name in NAMES:
                found = sorted(rows(f"select id, word from {{schema}}.{name}"))
                assert found == [(day, word) for day in range(self.DAYS)], name


# The partition columns are both NULL, one NULL, or set.
PARTS = """
{{ config(materialized='table', event_time='at') }}
select id, cast(at as timestamp) as at, part, sub from values
  (1, '2024-01-01', null, null), (2, '2024-01-01', 'a', null), (3, '2024-01-01', 'a', 1), (4, '2024-01-01', '', 1),
  (5, '2024-01-02', null, null), (6, '2024-01-02', 'a', null), (7, '2024-01-02', 'a', 1), (8, '2024-01-02', '', 1),
  (9, '2024-01-03', null, null)
as t(id, at, part, sub)
"""
IN_PARTS = """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at', batch_size='day',
  begin='2024-01-01', partition_by=['part', 'sub'], on_schema_change='append_new_columns') }}
select id, at, part, sub, {{ var('word', 0) }} as word from {{ ref('parts') }}
"""
# The first run has `note`; the later one has `number` instead.
NOTED = """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at', batch_size='day',
  begin='2024-01-01', on_schema_change='append_new_columns' LAYOUT) }}
select id, at, date_format(at, 'yyyy-MM') as month,
  {{ 'id * 10 as number' if var('word', 0) else "concat('n', id) as note" }}
from {{ ref('parts') }}
"""
NOTED_LAYOUTS = {
    "noted": ", partition_by='month'",
    "noted_keyed": ", partition_by='month', primary_key=['id', 'month']",
    "noted_whole": "",
}
# The same key occurs on several days of a partition.
SLOTS = """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at', batch_size='day',
  begin='2024-01-01', partition_by='month', primary_key=['slot', 'month'] EXTRA) }}
select id % 4 as slot, id, at, date_format(at, 'yyyy-MM') as month from {{ ref('parts') }}
"""
SLOT_LAYOUTS = {
    "slots": "",
    "slots_sequenced": ", sequence_field='id'",
    "slots_first": ", merge_engine='first-row'",
}


@pytest.mark.full
class TestCarriedOver:
    """A repeated batch keeps the other rows in its partitions, with all their columns."""

    @pytest.fixture(scope="class")
    def models(self):
        noted = {f"{name}.sql": NOTED.replace("LAYOUT", layout) for name, layout in NOTED_LAYOUTS.items()}
        slots = {f"{name}.sql": SLOTS.replace("EXTRA", extra) for name, extra in SLOT_LAYOUTS.items()}
        return {"parts.sql": PARTS, "in_parts.sql": IN_PARTS} | noted | slots

    def test_batch_again(self, project, rows):
        run_dbt(["run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04"])
        assert sorted(rows("select id, word from {schema}.in_parts")) == [(n, 0) for n in range(1, 10)]
        newest, first = [(0, 8), (1, 9), (2, 6), (3, 7)], [(0, 4), (1, 1), (2, 2), (3, 3)]
        for name, slots in {"slots": newest, "slots_sequenced": newest, "slots_first": first}.items():
            assert sorted(rows(f"select slot, id from {{schema}}.{name}")) == slots, name
        one_day = ["--event-time-start", "2024-01-02", "--event-time-end", "2024-01-03"]
        run_dbt(["run", "--exclude", "parts", *one_day, "--vars", "word: 1"])
        found = sorted(rows("select id, part, sub, word from {schema}.in_parts"))
        assert found == [
            (1, None, None, 0),
            (2, "a", None, 0),
            (3, "a", 1, 0),
            (4, "", 1, 0),
            (5, None, None, 1),
            (6, "a", None, 1),
            (7, "a", 1, 1),
            (8, "", 1, 1),
            (9, None, None, 0),
        ]
        expected = [(n, None, n * 10) if 5 <= n <= 8 else (n, f"n{n}", None) for n in range(1, 10)]
        written_last = [(0, 8), (1, 5), (2, 6), (3, 7)]
        for name, slots in {"slots": written_last, "slots_sequenced": newest, "slots_first": first}.items():
            assert sorted(rows(f"select slot, id from {{schema}}.{name}")) == slots, name
        for name in NOTED_LAYOUTS:
            assert sorted(rows(f"select id, note, number from {{schema}}.{name}")) == expected, name


# Refused, because a repeated batch would lose or double what other batches have added to a key.
COMBINED = (
    "{{ config(" + CONFIG + ", partition_by='part', primary_key=['id', 'part'], merge_engine='ENGINE') }}\n"
    "select 1 as id, 'a' as part, 5 as v, timestamp'2024-01-01 00:00:00' as at"
)


class TestRefused:
    @pytest.fixture(scope="class")
    def models(self):
        wrong = {"number": "1", "array": "array(current_date())", "missing": "1"}
        wrong |= {"no_time": "cast(null as date)", "another_batch": "timestamp'2024-01-02 00:00:00'"}
        return {
            f"{name}.sql": "{{ config(materialized='incremental', incremental_strategy='microbatch', "
            f"event_time='at', batch_size='day', begin='2024-01-01') }}}} select {value} as "
            + ("other" if name == "missing" else "at")
            for name, value in wrong.items()
        } | {f"{engine}.sql": COMBINED.replace("ENGINE", engine) for engine in ("aggregation", "partial-update")}

    def test_a_batch_without_event_time(self, project, rows):
        window = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]
        results = run_dbt(["run", *window], expect_pass=False)
        assert {result.status for result in results} == {"error"} and len(results) == 7
        assert rows("show tables in {schema}") == []
