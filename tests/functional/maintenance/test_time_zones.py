"""A user's times are on the session's clock, whatever the clock of Spark's JVM, which Paimon goes by."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities import Capability
from tests.functional.conftest import VERSIONS

# West and east of UTC; one of the two is nine hours or more from the JVM's own zone, wherever that is.
ZONES = ("America/Los_Angeles", "Asia/Tokyo")
HISTORY = "{{ config(materialized='incremental', tblproperties={'snapshot.num-retained.min': 2}) }} select 1 as id"
HOURS = """
{{ config(materialized='table', partition_by='hour', maintenance={'expire_partitions': {
    'expiration_time': '8 h', 'timestamp_formatter': 'yyyy-MM-dd-HH', 'after_run': false}}) }}
select 1 as id, date_format(now() - make_interval(0, 0, 0, 0, cast(age as int)), 'yyyy-MM-dd-HH') as hour
from (select explode(sequence(0, 24, 3)) as age)
"""
SOURCES = """
sources:
  - name: lake
    schema: "{{ target.schema }}"
    tables: [{name: ntz}, {name: ltz}]
    config: {loaded_at_field: loaded_at, freshness: {error_after: {count: 3, period: hour}}}
"""


def operate(macro, **arguments):
    run_dbt(["run-operation", macro, "--args", str(arguments)])


class SessionZone:
    """Paimon's procedures with times of a zone that the JVM does not have."""

    zone = ""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        config = dbt_profile_target["spark_config"] | {"spark.sql.session.timeZone": self.zone}
        return dbt_profile_target | {"spark_config": config}

    @pytest.fixture(scope="class")
    def models(self):
        return {"history.sql": HISTORY, "hours.sql": HOURS, "sources.yml": SOURCES}

    def in_session(self, seconds: float) -> str:
        """A moment as a user of the session writes it."""
        return datetime.fromtimestamp(seconds, ZoneInfo(self.zone)).strftime("%Y-%m-%d %H:%M:%S")

    def test_snapshots(self, project, rows):
        def kept():
            return [row[0] for row in rows("select snapshot_id from {schema}.`history$snapshots` order by 1")]

        for _ in range(3):
            run_dbt(["run", "--select", "history"])
        time.sleep(1.5)
        second = time.time()
        time.sleep(1.5)
        run_dbt(["run", "--select", "history"])
        operate("expire_snapshots", relation="history", older_than=self.in_session(second - 3600), retain_min=1)
        assert kept() == [1, 2, 3, 4]
        operate("expire_snapshots", relation="history", older_than=self.in_session(second), retain_min=1)
        assert kept() == [4]
        run_dbt(["run", "--select", "history"])
        operate("expire_snapshots", relation="history", retain_max=1)
        assert kept() == [5]

    def test_orphan_files(self, project, rows, warehouse: Path):
        """A file that is being written looks like an orphan until its commit."""
        folder = warehouse / f"{project.test_schema}.db/history/bucket-0"
        now = time.time()
        ages = {"young": 20, "old": 30}
        for name, hours in ages.items():
            path = folder / f"data-{name}.parquet"
            path.write_text("left")
            os.utime(path, (now - hours * 3600,) * 2)
        operate(
            "remove_orphan_files", relation="history", older_than=self.in_session(now - 26 * 3600), dry_run=False
        )
        assert {path.stem for path in folder.glob("data-[yo]*")} == {"data-young"}

    def test_partitions(self, project, rows):
        def kept():
            return [row[0] for row in rows("select hour from {schema}.hours order by 1 desc")]

        run_dbt(["run", "--select", "hours"])
        made = kept()
        operate("expire_partitions", relation="hours", expiration_time="14 h", timestamp_formatter="yyyy-MM-dd-HH")
        # A partition of 12 hours ago is 12 to 13 hours old.
        assert kept() == made[:5]
        operate("maintain", select="hours")
        assert kept() == made[:3]

    def test_instants(self, project, rows):
        """A commit's time, shown on the session's clock and used."""
        operate("rollback_to", relation="hours", timestamp=self.in_session(time.time()))
        made = rows("select count(*) from {schema}.hours")
        time.sleep(1.1)
        between = self.in_session(time.time())
        time.sleep(1.1)
        rows("insert into {schema}.hours values (2, '2999-01-01-00')")
        (shown,) = run_dbt(
            ["show", "--inline", f"select count(*) from {{{{ at(ref('hours'), timestamp='{between}') }}}}"]
        )
        assert [tuple(row) for row in shown.agate_table.rows] == made
        operate("rollback_to", relation="hours", timestamp=between)
        assert rows("select count(*) from {schema}.hours") == made

    def test_freshness(self, project, rows):
        """Two hours old in each type; one without a time zone is in UTC."""
        ago = datetime.now(timezone.utc) - timedelta(hours=2)
        ntz = f"timestamp_ntz '{ago:%Y-%m-%d %H:%M:%S}'"
        rows(f"create table {{schema}}.ntz as select {ntz} as loaded_at")
        rows("create table {schema}.ltz as select now() - interval 2 hours as loaded_at")
        results = run_dbt(["source", "freshness"])
        for result in results:
            assert 7200 <= result.age < 7320
            assert abs(result.max_loaded_at - ago) < timedelta(minutes=2)


class TestWest(SessionZone):
    zone = ZONES[0]


class TestEast(SessionZone):
    zone = ZONES[1]


def test_the_jvm_has_the_sessions_zone():
    assert VERSIONS.supports(Capability.EXPIRE_PARTITIONS)
