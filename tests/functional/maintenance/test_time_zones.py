"""Times that a user writes are in the session's time zone, although Paimon uses that of Spark's JVM."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from dbt.tests.util import get_artifact, run_dbt
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability
from own_process import OwnProcess, write_project

HOUR = 3600
BY_HOUR = "yyyy-MM-dd-HH"
HISTORY = "{{ config(materialized='incremental') }} select 1 as id"
HOURS = """
{{ config(materialized='table', partition_by='hour', **var('config', {})) }}
select 1 as id, date_format(now() - make_interval(0, 0, 0, 0, age), 'yyyy-MM-dd-HH') as hour
from (select explode(sequence(0, 48, 3)) as age)
"""
DEFAULTED = """
{{ config(materialized='table', primary_key='id', tblproperties={'fields.at.default-value': '2024-01-01 00:00:00'}) }}
select 1 as id, now() as at
"""
EXPIRES = {
    "partition.expiration-time": "8 h",
    "partition.expiration-check-interval": "0 s",
    "partition.timestamp-formatter": BY_HOUR,
}
POLICY = {
    "expiration_time": "29 h",
    "timestamp_formatter": BY_HOUR,
    "after_run": False,
}
SOURCES = f"""
models: [{{name: hours, config: {{maintenance: {{expire_partitions: {POLICY}}}}}}}]
sources:
  - name: lake
    schema: "{{{{ target.schema }}}}"
    config: {{freshness: {{error_after: {{count: 3, period: hour}}}}}}
    tables:
      - {{name: ntz, config: {{loaded_at_field: loaded_at}}}}
      - {{name: ltz, config: {{loaded_at_field: loaded_at}}}}
      - {{name: asked, config: {{loaded_at_query: "select max(loaded_at) from {{{{ source('lake', 'ltz') }}}}"}}}}
      - {{name: history}}
"""


def operate(macro, *, expect_pass=True, **arguments):
    run_dbt(["run-operation", macro, "--args", str(arguments)], expect_pass=expect_pass)


class SessionZone:
    """Each test continues from the previous test; the JVM is in UTC."""

    zone = ""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        config = dbt_profile_target["spark_config"] | {"spark.sql.session.timeZone": self.zone}
        return dbt_profile_target | {"spark_config": config}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "history.sql": HISTORY,
            "hours.sql": HOURS,
            "defaulted.sql": DEFAULTED,
            "sources.yml": SOURCES,
        }

    def written(self, seconds: float) -> str:
        """A moment as a user of the session writes it."""
        return datetime.fromtimestamp(seconds, ZoneInfo(self.zone)).strftime("%Y-%m-%d %H:%M:%S")

    def test_snapshots(self, project, rows):
        def kept():
            return [row[0] for row in rows("select snapshot_id from {schema}.`history$snapshots` order by 1")]

        for _ in range(3):
            run_dbt(["run", "--select", "history"])
        time.sleep(1.1)
        moment = time.time()
        time.sleep(1.1)
        run_dbt(["run", "--select", "history"])
        expire = {"relation": "history", "retain_min": 1, "retain_max": 100}
        operate("expire_snapshots", **expire, older_than=self.written(moment - HOUR))
        assert kept() == [1, 2, 3, 4]
        operate("expire_snapshots", **expire, older_than=self.written(moment))
        state_then = VERSIONS.supports(Capability.EXPIRE_SNAPSHOTS_KEEPS_THE_STATE_THEN)
        assert kept() == ([3, 4] if state_then else [4])

    def test_at_most_one_snapshot(self, project, rows):
        run_dbt(["run", "--select", "history"])
        operate("expire_snapshots", relation="history", retain_max=1)
        assert rows("select count(*) from {schema}.`history$snapshots`") == [(1,)]

    def test_orphan_files(self, project, warehouse: Path):
        """A file that is being written looks like an orphan, so `older_than` must be exact in winter and in summer."""
        folder = warehouse / f"{project.test_schema}.db/history/bucket-0"
        year = datetime.now(timezone.utc).year - 1
        for moment in (datetime(year, month, 15, 12, tzinfo=timezone.utc).timestamp() for month in (1, 7)):
            young, old = folder / "data-young.parquet", folder / "data-old.parquet"
            for path, at in ((young, moment + 60), (old, moment - 60)):
                path.write_text("left")
                os.utime(path, (at, at))
            arguments = {"older_than": self.written(moment), "dry_run": False}
            operate("remove_orphan_files", relation="history", **arguments)
            assert young.exists() and not old.exists()
            young.unlink()

    def test_partitions(self, project, rows):
        def kept():
            return [row[0] for row in rows("select hour from {schema}.hours order by 1 desc")]

        run_dbt(["run", "--select", "hours"])
        made = kept()
        # A partition of 36 hours ago is 36 to 37 hours old.
        operate("expire_partitions", relation="hours", expiration_time="38 h", timestamp_formatter=BY_HOUR)
        assert kept() == made[:13]
        operate("maintain", select="hours")
        assert kept() == made[:10]

    def test_partition_expiry_that_needs_the_jvms_zone(self, project, rows):
        """To the JVM, which is in UTC, an eastern zone's hours are in the future and a western zone's are too old."""
        made = rows("select count(*) from {schema}.hours")
        east = self.zone.startswith("Asia")
        expire = {"relation": "hours", "expiration_time": "2 h", "timestamp_formatter": BY_HOUR}
        operate("expire_partitions", **expire, expect_pass=not east)
        assert rows("select count(*) from {schema}.hours") == (made if east else [(1,)])
        tblproperties = str({"config": {"tblproperties": EXPIRES}})
        results = run_dbt(["run", "--select", "hours", "defaulted", "--vars", tblproperties], expect_pass=False)
        by_name = {result.node.name: result.message for result in results}
        assert "-Duser.timezone" in by_name["hours"]
        if VERSIONS.supports(Capability.FIELD_DEFAULT_VALUE):
            assert "-Duser.timezone" in by_name["defaulted"]
        assert rows("select count(*) from {schema}.hours") == (made if east else [(1,)])

    def test_instants(self, project, rows):
        run_dbt(["run", "--select", "hours"])
        made = rows("select count(*) from {schema}.hours")
        time.sleep(1.1)
        between = self.written(time.time())
        time.sleep(1.1)
        rows("insert into {schema}.hours values (2, '2999-01-01-00')")
        query = f"select count(*) from {{{{ at(ref('hours'), timestamp='{between}') }}}}"
        (shown,) = run_dbt(["show", "--inline", query])
        assert [tuple(row) for row in shown.agate_table.rows] == made
        operate("rollback_to", relation="hours", timestamp=between)
        assert rows("select count(*) from {schema}.hours") == made

    def test_nested_values_that_are_shown(self, project):
        nested = """select array(timestamp '2024-01-01 00:00:00') as list,
            map(date '2024-01-01', named_struct('at', timestamp '2024-01-01 00:00:00', 'n', 1.5)) as pairs"""
        (shown,) = run_dbt(["show", "--inline", nested])
        (row,) = (tuple(row) for row in shown.agate_table.rows)
        assert "2024-01-01T00:00:00" in row[0].replace(" ", "T")
        assert row[1].startswith('{"2024-01-01": ') and "2024-01-01T00:00:00" in row[1].replace(" ", "T")

    def test_freshness(self, project, rows):
        """The age is two hours for each type; a time without a zone is UTC. Without a field, the last commit counts."""
        ago = datetime.now(timezone.utc) - timedelta(hours=2)
        rows(f"create table {{schema}}.ntz as select timestamp_ntz '{ago:%Y-%m-%d %H:%M:%S}' as loaded_at")
        rows("create table {schema}.ltz as select now() - interval 2 hours as loaded_at")
        rows("create table {schema}.asked as select 1 as id")
        run_dbt(["run", "--select", "history"])
        results = {result.node.name: result for result in run_dbt(["source", "freshness"])}
        assert len(results) == 4
        for name, result in results.items():
            hours = 0 if name == "history" else 2
            assert 0 <= result.age - hours * HOUR < 120
            assert abs(result.max_loaded_at - ago - timedelta(hours=2 - hours)) < timedelta(minutes=2)

    def test_docs(self, project):
        run_dbt(["docs", "generate"])
        stats = get_artifact(project.project_root, "target", "catalog.json")["nodes"]["model.test.history"]["stats"]
        shown = datetime.fromisoformat(stats["last_modified"]["value"]).replace(tzinfo=timezone.utc)
        assert timedelta() < datetime.now(timezone.utc) - shown < timedelta(minutes=5)


class TestWest(SessionZone):
    zone = "America/Los_Angeles"


class TestEast(SessionZone):
    zone = "Asia/Tokyo"


TAGGED = "{{ config(materialized='table', auto_tags={'creation': 'process-time', 'period': 'hourly'}) }} select 1 as id"
SHOWN = "select cast(now() as timestamp_ntz) - max(commit_time) < interval 10 minutes from s.`hours$snapshots`"


def test_the_jvm_has_the_sessions_zone(tmp_path, dbt_profile_target, monkeypatch):
    """Partition expiry, commit times and tags are in the session's zone, on a machine half a day ahead of it."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    zone = "America/Los_Angeles"
    config = dbt_profile_target["spark_config"] | {"spark.sql.session.timeZone": zone}
    # Without the options that set the JVM to UTC in other tests, the JVM has the machine's zone.
    del config["spark.driver.extraJavaOptions"]
    target = dbt_profile_target | {
        "schema": "s",
        "warehouse": str(tmp_path / "warehouse"),
        "spark_config": config,
    }
    files = {
        "models/hours.sql": HOURS.replace("**var('config', {})", f"tblproperties={EXPIRES}"),
        "models/tagged.sql": TAGGED,
        "models/as_orc.sql": "{{ config(materialized='table', file_format='orc') }} select now() as at",
    }
    write_project(tmp_path, target, files)
    started = datetime.now(ZoneInfo(zone))
    run, hours, shown, tags, warned = OwnProcess(
        tmp_path,
        target,
        [
            {"dbt": ["run"]},
            {"sql": "select count(*) from s.hours"},
            {"sql": SHOWN},
            {"sql": "select tag_name from s.`tagged$tags`"},
            {"dbt": ["--warn-error", "run", "--select", "as_orc"]},
        ],
    ).answers()
    assert run == {"hours": "success", "tagged": "success", "as_orc": "success"}
    assert hours == [[3]]
    assert shown == [[True]]
    ended = datetime.now(started.tzinfo)
    assert tags in [[[f"{at - timedelta(hours=1):%Y-%m-%d %H}"]] for at in (started, ended)]
    # The adapter warns about ORC, because Los Angeles has clock changes.
    assert "-Duser.timezone=UTC" in warned["as_orc"]
