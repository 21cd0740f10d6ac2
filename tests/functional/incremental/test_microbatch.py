"""Microbatch: a batch takes the place of its window, whatever the table's layout."""

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


def model(extra: str) -> str:
    return (
        "{{ config(" + CONFIG + extra + ") }}\n"
        "select id, at, date_format(at, 'yyyy-MM') as month, date_format(at, 'yyyy-MM-dd') as day, "
        "cast(if({{ var('fail', false) }}, raise_error('stop'), {{ var('word', 0) }}) as int) as word "
        "from {{ ref('events') }}"
    )


class TestMicrobatch:
    @pytest.fixture(scope="class")
    def models(self):
        return {"events.sql": EVENTS} | {f"{name}.sql": model(extra) for name, extra in NAMES.items()}

    def test_batches(self, project, rows):
        window = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04"]
        run_dbt(["run", *window])
        for name in NAMES:
            assert sorted(rows(f"select id, word from {{schema}}.{name}")) == [
                (1, 0),
                (2, 0),
                (3, 0),
                (4, 0),
            ], name

        # A batch that fails leaves its window as it was, in one table snapshot no more than before.
        snapshots = {name: rows(f"select count(*) from {{schema}}.`{name}$snapshots`") for name in NAMES}
        run_dbt(["run", "--exclude", "events", *window, "--vars", "fail: true"], expect_pass=False)
        for name in NAMES:
            assert sorted(rows(f"select id, word from {{schema}}.{name}")) == [
                (1, 0),
                (2, 0),
                (3, 0),
                (4, 0),
            ], name
            assert rows(f"select count(*) from {{schema}}.`{name}$snapshots`") == snapshots[name], name

        # One day again: its rows are replaced, the others are left alone.
        changed = EVENTS.replace("(2, '2024-01-01 23", "(5, '2024-01-01 23")
        write_file(changed, project.project_root, "models", "events.sql")
        one_day = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]
        run_dbt(["run", *one_day, "--vars", "word: 1"])
        for name in NAMES:
            assert sorted(rows(f"select id, word from {{schema}}.{name}")) == [
                (1, 1),
                (3, 0),
                (4, 0),
                (5, 1),
            ], name

    def test_no_setting_leaks(self, project, rows):
        assert rows("set spark.sql.sources.partitionOverwriteMode")[0][1].upper() == "STATIC"


class TestConcurrentBatches:
    """dbt runs the batches between the first and the last in several threads: none may undo another's rows."""

    DAYS = 12

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
