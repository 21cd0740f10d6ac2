"""Batches are in UTC in any session time zone. Each row is in one batch, the same for the input and the table."""

from __future__ import annotations

import itertools
import json
from datetime import datetime, timedelta, timezone

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.sql import event_time

TYPES = ("timestamp", "timestamp_ntz", "date", "string")
ZONES = ("UTC", "Asia/Shanghai", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
# Batch edges around clock changes: New York's at 7:00 UTC, and Lord Howe's, of half an hour, at 15:00 UTC.
SIZES = {
    "hour, forward": [datetime(2024, 3, 10, hour) for hour in range(9)],
    "hour, back": [datetime(2024, 4, 6, hour) for hour in range(12, 18)],
    "day": [datetime(2024, 3, day) for day in range(9, 13)],
    "month": [datetime(2024, month, 1) for month in range(2, 6)],
    "year": [datetime(year, 1, 1) for year in (2023, 2024, 2025)],
}
MOMENTS = sorted(
    {
        edge + shift
        for edges in SIZES.values()
        for edge in edges
        for shift in (timedelta(), timedelta(minutes=30), timedelta(microseconds=-1))
    }
)


def micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def typed(column: str, data_type: str) -> str:
    """SQL of a UTC moment (a column of microseconds) as a value of a type, whatever the session's time zone is."""
    clock = f"(timestamp_ntz '1970-01-01' + make_dt_interval(0, 0, 0, {column} / 1000000bd))"
    return f"timestamp_micros({column})" if data_type == "timestamp" else f"cast({clock} as {data_type})"


class TestRule:
    """A batch's condition, without a dbt run."""

    @pytest.fixture(params=ZONES)
    def zone(self, project, request, rows):
        before = rows("select current_timezone()")[0][0]
        rows(f"set time zone '{request.param}'")
        yield request.param
        rows(f"set time zone '{before}'")

    def test_one_batch_a_row(self, zone, rows):
        moments = ", ".join(f"({micros(moment)}L)" for moment in MOMENTS)
        windows = [(size, start, end) for size, edges in SIZES.items() for start, end in itertools.pairwise(edges)]
        for data_type in TYPES:
            inside = [
                f"array({', '.join(event_time.condition('c', event_time.Window.of(*w[1:]), kind) for w in windows)})"
                for kind in ("", data_type)
            ]
            values = f"select m, {typed('m', data_type)} as c from values {moments} as v(m)"
            found = rows(f"select m, {', '.join(inside)} from ({values})")
            assert len(found) == len(MOMENTS)
            for m, unknown, known in found:
                moment = datetime(1970, 1, 1) + timedelta(microseconds=m)
                if data_type == "date":
                    moment = moment.replace(hour=0, minute=0, second=0, microsecond=0)
                expected = [start <= moment < end for _, start, end in windows]
                assert list(known) == list(unknown) == expected, (data_type, moment)

    @pytest.mark.parametrize("zone", ["Asia/Shanghai"], indirect=True)
    def test_texts(self, zone, rows):
        """A string without a time zone is in UTC, a string with one is in that zone."""
        window = event_time.Window.of("2024-01-01T10:00:00Z", datetime(2024, 1, 1, 11, tzinfo=timezone.utc))
        inside = event_time.condition("c", window)
        day = event_time.condition("c", event_time.Window.of("2024-01-01", "2024-01-02"))
        texts = {
            "2024-01-01 10:00:00": True,
            "2024-01-01T10:00": True,
            "2024-1-1 10": True,
            " 2024-01-01 10:59:59.999999 ": True,
            "2024-01-01 11:00:00": False,
            "2024-01-01 18:30:00+08:00": True,
            "2024-01-01 10:30:00+08:00": False,
            "2024-01-01 18:30:00 Asia/Shanghai": True,
            "2024-01-01": False,
        }
        values = ", ".join(f"('{text}')" for text in texts)
        found = rows(f"select c, {inside}, {day} from values {values} as v(c)")
        assert {text: hit for text, hit, _ in found} == texts
        assert all(hit for _, _, hit in found)
        assert rows(f"select {inside} from (select cast(null as string) as c)") == [(None,)]
        for text in ("", "10:00:00", "yesterday"):
            with pytest.raises(Exception, match="not a date or time:"):
                rows(f"select {inside} from values ('{text}') as v(c)")


# UTC times: every six hours around the end of 2023, and every half hour around a clock change in New York.
YEARS_END = [datetime(2023, 12, 30, 18) + timedelta(hours=6 * n) for n in range(13)]
CLOCKS = [datetime(2024, 3, 10, 0, 30) + timedelta(minutes=30 * n) for n in range(10)]
EVENTS = """
{{{{ config(materialized='table', event_time='at') }}}}
select cast(id as int) as id, {at} as at, '{{{{ var('word', 'old') }}}}' as word
from values {values} as v(id, m)
"""
MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at', begin='2023-12-31',
  batch_size='{size}' {layout}) }}}}
select id, at, word, id % 2 as half, date_format(at, 'yyyy-MM-dd') as local_day from {{{{ ref('{events}') }}}}
"""
# Partitions by the session's local days overlap the UTC batches.
LAYOUTS = {
    "hour_of_timestamp": ", partition_by='local_day'",
    "hour_of_timestamp_ntz": ", partition_by='local_day'",
    "hour_of_string": "",
    "day_of_timestamp": "",
    "day_of_timestamp_ntz": ", primary_key='id'",
    "day_of_date": ", partition_by='half'",
    "month_of_timestamp_ntz": "",
    "year_of_date": ", partition_by='local_day'",
}


def values(moments: list[datetime]) -> str:
    return ", ".join(f"({n}, {micros(moment)}L)" for n, moment in enumerate(moments))


class Zone:
    """Runs batches, some of them twice, in one session time zone."""

    ZONE = "UTC"

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        config = dbt_profile_target["spark_config"] | {"spark.sql.session.timeZone": self.ZONE}
        return dbt_profile_target | {"spark_config": config}

    @pytest.fixture(scope="class")
    def models(self):
        files = {
            f"{name}_{kind}.sql": EVENTS.format(at=typed("m", kind), values=values(moments))
            for name, moments in (("years_end", YEARS_END), ("clocks", CLOCKS))
            for kind in TYPES
        }
        for name, layout in LAYOUTS.items():
            size, kind = name.split("_of_")
            events = f"{'clocks' if size == 'hour' else 'years_end'}_{kind}"
            files[f"{name}.sql"] = MODEL.format(size=size, layout=layout, events=events)
        files["sampled.sql"] = "{{ config(materialized='table') }}\n" + "\nunion all\n".join(
            f"select '{kind}' as kind, id from {{{{ ref('years_end_{kind}') }}}}" for kind in TYPES
        )
        # With `quote`, dbt passes the column's name in double quotes.
        files["quoted.yml"] = json.dumps(
            {"models": [{"name": "years_end_date", "columns": [{"name": "at", "quote": True}]}]}
        )
        return files

    def build(self, select: str, start: str, end: str, word: str) -> None:
        window = ["--event-time-start", start, "--event-time-end", end]
        run_dbt(["run", "--select", select, *window, "--vars", f"word: {word}"])

    def of(self, rows, name: str) -> list[tuple[int, str]]:
        return sorted(rows(f"select id, word from {{schema}}.{name}"))

    def test_days_months_years(self, project, rows):
        run_dbt(["run", "--select", "years_end_*"])
        models = "day_of_* month_of_* year_of_*"
        self.build(models, "2023-12-31", "2024-01-02", "old")
        end = {"day": datetime(2024, 1, 2), "month": datetime(2024, 2, 1), "year": datetime(2025, 1, 1)}
        start = {"day": datetime(2023, 12, 31), "month": datetime(2023, 12, 1), "year": datetime(2023, 1, 1)}
        expected = {}
        for name in (name for name in LAYOUTS if not name.startswith("hour")):
            size = name.split("_")[0]
            expected[name] = [
                n
                for n, moment in enumerate(YEARS_END)
                if start[size] <= (moment.replace(hour=0) if name.endswith("date") else moment) < end[size]
            ]
            assert self.of(rows, name) == [(n, "old") for n in expected[name]], name
        run_dbt(["run", "--select", "years_end_*", "--vars", "word: new"])
        self.build(models, "2023-12-31", "2024-01-01", "new")
        for name, ids in expected.items():
            again = {n: "new" if YEARS_END[n] < datetime(2024, 1, 1) else "old" for n in ids}
            assert self.of(rows, name) == sorted(again.items()), name

    def test_hours(self, project, rows):
        run_dbt(["run", "--select", "clocks_*"])
        self.build("hour_of_*", "2024-03-10T01:00:00", "2024-03-10T04:00:00", "old")
        run_dbt(["run", "--select", "clocks_*", "--vars", "word: new"])
        self.build("hour_of_*", "2024-03-10T02:00:00", "2024-03-10T03:00:00", "new")
        expected = [(n, "new" if n in (3, 4) else "old") for n in range(1, 7)]
        for name in (name for name in LAYOUTS if name.startswith("hour")):
            assert self.of(rows, name) == expected, name

    def test_sample(self, project, rows):
        run_dbt(["run", "--select", "sampled", "--sample", "{'start': '2023-12-31', 'end': '2024-01-01'}"])
        found = sorted(rows("select kind, id from {schema}.sampled"))
        assert found == sorted((kind, n) for kind in TYPES for n in (1, 2, 3, 4))


@pytest.mark.full
class TestShanghai(Zone):
    ZONE = "Asia/Shanghai"


@pytest.mark.full
class TestNewYork(Zone):
    ZONE = "America/New_York"
