"""Time windows over a stream: each is written once, complete, when the watermark passes its end."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

HOUR = timedelta(hours=1)
DELAY = timedelta(minutes=10)
MARK = "{'column': 'at', 'delay': var('delay', '10 minutes'), 'window': var('window', '1 hour')}"
HOURLY = """
{{{{ config(materialized='streaming') }}}}
select cast(window.start as timestamp) as hour, count(*) as n, count(distinct kind) as kinds, sum(id) as ids
from {{{{ stream(source('raw', '{source}'), options={{'maxSnapshotsPerTrigger': 1}}, watermark={mark}) }}}}
group by window(at, '1 hour')
"""
HERE = "{'column': 'at', 'delay': '1 minute', 'window': '1 hour'}"
# Model -> (arguments of stream(…), part of the error message)
BAD = {
    "with_kinds": (f"source('raw', 'events'), row_kind='_kind', watermark={HERE}", "without row_kind"),
    "from_now_on": (f"source('raw', 'events'), scan_mode='latest', watermark={HERE}", "and scan_mode"),
    "of_files": (f"source('raw', 'files'), watermark={HERE}", "Write its messages into a table"),
    "of_text": (
        f"source('raw', 'events'), watermark={HERE.replace('at', 'kind')}",
        "'kind' is of type string",
    ),
    "of_nothing": (
        f"source('raw', 'events'), watermark={HERE.replace('at', 'x')}",
        "column 'x' does not exist",
    ),
    "without_window": (
        "source('raw', 'events'), watermark={'column': 'at'}",
        "must have the keys column, delay, window",
    ),
    "of_a_month": (
        f"source('raw', 'events'), watermark={HERE.replace('hour', 'month')}",
        "window='1 month' is not an interval",
    ),
    "of_two": (
        f"source('raw', 'local'), watermark={HERE}) }}}} union all select * from {{{{ stream(source('raw', 'events')",
        "reads one stream",
    ),
}
YML = """
sources:
  - name: raw
    schema: '{{ target.schema }}'
    tables:
      - {name: events}
      - {name: local}
      - {name: keyed}
      - name: files
        external: {using: json, location: landing}
        columns: [{name: at, data_type: timestamp}]
"""
TABLES = {
    "events": "(id int, kind string, at timestamp)",
    "local": "(id int, kind string, at timestamp_ntz)",
    "keyed": "(id int, kind string, at timestamp) tblproperties ('primary-key' = 'id', 'bucket' = '1')",
}
# Minutes from BEGINNING to each event; None is an event without a time. Each list is one commit and one batch.
COMMITS: list[list[int | None]] = [
    [5, 50, 65],
    # 55 is within the delay; 75 closes the first hour.
    [55, 75],
    # 59 is too late; 200 closes an hour without events.
    [59, 90, 200],
    [130, None, 185, 300],
    [299],
    [301, 400],
]
BEGINNING = datetime(2026, 1, 31, 22)

Event = tuple[int, str, datetime | None]
Row = tuple[datetime, int, int, int]


def events(commits: list[list[int | None]]) -> list[list[Event]]:
    """The events of each commit, from their minutes after BEGINNING."""
    found, number = [], 0
    for commit in commits:
        batch = []
        for minute in commit:
            number += 1
            at = None if minute is None else BEGINNING + timedelta(minutes=minute)
            batch.append((number, "ab"[number % 2], at))
        found.append(batch)
    return found


EVENTS = events(COMMITS)


def windows(batches: list[list[Event]], delays: Sequence[timedelta] = ()) -> tuple[list[Row], int]:
    """As the docs promise: the closed windows with the rows that arrived in time, and the number of late rows.

    `delays`: the delay of each batch; DELAY for the remaining ones.
    """
    latest = closed = datetime(1, 1, 1)
    late = 0
    rows: dict[datetime, list[Event]] = defaultdict(list)
    for batch, delay in zip_longest(batches, delays, fillvalue=DELAY):
        for event in batch:
            if event[2] is None:
                continue
            hour = event[2].replace(minute=0)
            if hour + HOUR <= closed:
                late += 1
            else:
                rows[hour].append(event)
            latest = max(latest, event[2])
        closed = max(closed, latest - delay)
    return sorted(
        (hour, len(each), len({kind for _, kind, _ in each}), sum(number for number, *_ in each))
        for hour, each in rows.items()
        if hour + HOUR <= closed
    ), late


def values(batch: list[Event]) -> str:
    return ", ".join(
        f"({number}, '{kind}', " + ("null" if at is None else f"cast('{at}' as timestamp)") + ")"
        for number, kind, at in batch
    )


def run(*select: str, wrong: bool = False, full_refresh: bool = False, **variables: str) -> dict[str, str]:
    """Run models; returns the message of each."""
    arguments = ["run", "--select", *select, "--vars", json.dumps(variables)]
    results = run_dbt(arguments + ["--full-refresh"] * full_refresh, expect_pass=not wrong)
    return {result.node.name: result.message for result in results}


@pytest.fixture(scope="class")
def models() -> dict[str, Any]:
    return {
        "sources.yml": YML,
        "good": {f"hourly_{name}.sql": HOURLY.format(source=name, mark=MARK) for name in TABLES},
        "bad": {
            f"{name}.sql": f"{{{{ config(materialized='streaming') }}}} select * from {{{{ stream({arguments}) }}}}"
            for name, (arguments, _) in BAD.items()
        },
    }


class TestWatermarks:
    SOURCE = "events"

    @pytest.fixture(scope="class")
    def there(self, project, write):
        for name, ddl in TABLES.items():
            write(name, f"create table {{t}} {ddl}")

    def test_windows(self, there, rows, write):
        """A run without rows (a first batch would read all rows at once), then two runs of three batches each."""
        model = f"hourly_{self.SOURCE}"
        run(model)
        said = []
        for batches in (EVENTS[:3], EVENTS[3:]):
            write(self.SOURCE, *(f"insert into {{t}} values {values(batch)}" for batch in batches))
            # A compaction of a table with a key is also a batch, so the number of batches varies.
            said.append(re.sub(r"\d+ batches", "…", run(model)[model]))
        expected, late = windows(EVENTS)
        assert len(expected) == 5 and late == 2
        assert sorted(rows(f"select * from {{schema}}.{model}")) == expected
        assert said == ["8 rows read in …, 1 late", "7 rows read in …, 1 late"]

    def test_refused(self, there, rows):
        messages = run("bad", wrong=True)
        assert {name for name, (_, reason) in BAD.items() if reason not in messages[name]} == set()
        assert rows("show tables in {schema} like 'of_*'") == []


@pytest.mark.full
class TestLocalTimes(TestWatermarks):
    SOURCE = "local"


@pytest.mark.full
class TestKeys(TestWatermarks):
    SOURCE = "keyed"


@pytest.mark.full
class TestRestarts:
    """A stream is killed around the commits of its batches, and continues with another delay."""

    @pytest.fixture(scope="class")
    def there(self, project, write):
        write("events", f"create table {{t}} {TABLES['events']}")
        run("hourly_events")
        write("events", *(f"insert into {{t}} values {values(batch)}" for batch in EVENTS))

    def test_kills(self, there, killed, rows):
        killed("hourly_events", 0, "before")
        killed("hourly_events", 0, "after")
        # Batch 0 is written, with the first delay. Batch 2 has noted the windows that it closes, so it keeps its delay.
        killed("hourly_events", 2, "before", "--vars", "delay: 30 minutes")
        run("hourly_events", delay="1 minute")
        delays = [timedelta(minutes=minutes) for minutes in (10, 30, 30, 1, 1, 1)]
        expected, _ = windows(EVENTS, delays)
        assert expected != windows(EVENTS)[0]
        assert sorted(rows("select * from {schema}.hourly_events")) == expected

    def test_other_windows(self, there, rows):
        before = sorted(rows("select * from {schema}.hourly_events"))
        assert "--full-refresh" in run("hourly_events", wrong=True, window="2 hours")["hourly_events"]
        assert sorted(rows("select * from {schema}.hourly_events")) == before
        run("hourly_events", full_refresh=True)
        # All events are now in one batch, so none is late.
        at_once = [[event for batch in EVENTS for event in batch]]
        assert sorted(rows("select * from {schema}.hourly_events")) == windows(at_once)[0]


@pytest.mark.full
class TestAsSpark:
    """Spark's own watermarks give the same windows for the same batches."""

    @pytest.mark.parametrize("seed", range(3))
    def test_random_events(self, project, write, rows, tmp_path, seed):
        draw = random.Random(seed)
        minutes: list[list[int | None]] = [
            [draw.randint(-90, 60) + 45 * number for _ in range(draw.randint(1, 8))] for number in range(12)
        ]
        batches = events(minutes)
        write("events", "drop table if exists {t}", f"create table {{t}} {TABLES['events']}")
        run("hourly_events", full_refresh=True)
        write("events", *(f"insert into {{t}} values {values(batch)}" for batch in batches))
        run("hourly_events")
        ours = sorted(rows("select * from {schema}.hourly_events"))
        expected, late = windows(batches)
        assert ours == expected
        assert late > 0
        assert sorted(_by_spark(batches, tmp_path)) == [(hour, n, ids) for hour, n, _, ids in expected]


def _by_spark(batches: list[list[Event]], folder: Path) -> list[tuple[datetime, int, int]]:
    """The windows that Spark's withWatermark writes in append mode, as (start, n, ids)."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    spark = SparkSession.builder.getOrCreate()
    landing = folder / "landing"
    landing.mkdir()
    hourly = (
        spark.readStream.schema("id int, kind string, at timestamp")
        .parquet(str(landing))
        .withWatermark("at", "10 minutes")
        .groupBy(f.window("at", "1 hour"))
        .agg(f.count("*").alias("n"), f.sum("id").alias("ids"))
        .select("window.start", "n", "ids")
    )
    found: list[tuple[datetime, int, int]] = []
    writer = hourly.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.foreachBatch(lambda frame, _: found.extend(map(tuple, frame.collect()))).start()
    for number, batch in enumerate(batches):
        frame = spark.sql(f"select * from values {values(batch)} as t(id, kind, at)").coalesce(1)
        frame.write.parquet(str(folder / str(number)))
        (file,) = (folder / str(number)).glob("*.parquet")
        file.rename(landing / f"{number}.parquet")
        # This also runs the empty batch that writes the windows.
        query.processAllAvailable()
    query.stop()
    return found
