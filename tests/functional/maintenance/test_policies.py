"""The config `maintenance`: what a run does after its commit, when an action is due, and what happens on failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession
from tests.functional.conftest import CONNECTOR, VERSIONS

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.machine.waiting import WaitedTooLongError
from dbt.adapters.paimon.writing.table_writer import TableWriter

RUN = "{{ var('run', 1) }}"
APPEND = "materialized='incremental', incremental_strategy='append'"
KEYED = "materialized='incremental', primary_key='id', bucket=1, tblproperties={'write-only': true}"

MODELS = {
    "merged": f"{{{{ config({KEYED}, maintenance={{'compact': {{'small_files': 3}}}}) }}}} select {RUN} as id",
    "every_second": f"{{{{ config({KEYED}, maintenance={{'compact': {{'every_commits': 2}}}}) }}}} select {RUN} as id",
    # Each write compacts, too, but these compactions do not restart the count of commits.
    "every_third": "{{ config(materialized='incremental', primary_key='id', bucket=1, tblproperties={'num-sorted-run.compaction-trigger': "
    f"2}}, maintenance={{'compact': {{'every_commits': 3}}}}) }}}} select {RUN} as id",
    "left_alone": f"{{{{ config({KEYED}) }}}} select {RUN} as id",
    "not_due": f"{{{{ config({KEYED}, maintenance={{'compact': {{'small_files': 100}}}}) }}}} select {RUN} as id",
    "nightly": f"{{{{ config({KEYED}, maintenance={{'compact': {{'small_files': 2, 'after_run': false}}, "
    f"'expire_snapshots': {{'retain_max': 1, 'after_run': false}}, 'remove_orphan_files': true}}) }}}} "
    f"select {RUN} as id",
    "kept": f"{{{{ config({KEYED}, maintenance={{'expire_snapshots': {{'retain_max': 2}}}}, "
    "post_hook=\"{{ create_tag(this, 'run_' ~ var('run', 1)) }}\") }} "
    f"select {RUN} as id",
    "ordered": f"{{{{ config({APPEND}, maintenance={{'compact': {{'order': 'zorder', 'order_by': ['id', 'other'], "
    f"'small_files': 3}}}}) }}}} select {RUN} as id, 9 - {RUN} as other",
    "newest": f"{{{{ config({APPEND}, partition_by=['day', 'n', 's', 't'], maintenance={{'compact': {{'small_files': 2, "
    f"'partitions': 'newest'}}}}) }}}} select {RUN} as id, day, 1L as n, 2S as s, 3Y as t "
    "from values (date'2024-01-09'), (date'2024-01-10') as _ (day)",
    "chosen": f"{{{{ config({APPEND}, partition_by='n', maintenance={{'compact': {{'small_files': 2, "
    f"'partitions': {{'where': 'n = 1'}}}}}}) }}}} select {RUN} as id, 1 as n union all select {RUN}, 2",
    "resting": f"{{{{ config({APPEND}, partition_by='n', maintenance={{'compact': {{'small_files': 2, "
    f"'partitions': {{'older_than': '1 d'}}}}}}) }}}} select {RUN} as id, 1 as n",
    "expiring": "{{ config(materialized='table', partition_by='day', maintenance={'expire_partitions': "
    "{'expiration_time': '90 d', 'timestamp_formatter': 'yyyyMMdd'}}) }} "
    # Newer connectors drop at most 100 partitions, unless they are asked for more.
    "select id, date_format(date_add(date'2020-01-01', cast(id as int)), 'yyyyMMdd') as day from range(105) "
    "union all select 2, '29990101'",
    "hours": "{{ config(materialized='table', partition_by=['day', 'hour'], maintenance={'expire_partitions': "
    "{'expiration_time': '90 d', 'timestamp_pattern': '$day $hour:00:00'}}) }} "
    "select 1 as id, '2020-01-01' as day, '07' as hour union all select 2, '2999-01-01', '08'",
    "odd_name": f"{{{{ config({KEYED}, alias='odd `name`', maintenance={{'compact': {{'small_files': 2}}, "
    f"'expire_snapshots': {{'retain_max': 1, 'older_than': '30 d'}}}}) }}}} select {RUN} as id",
}


@pytest.fixture(scope="class")
def statements():
    """Every statement that Spark receives from here on."""
    sent: list[str] = []
    spark_sql = SparkSession.sql

    def counted(session, query, *args, **kwargs):
        sent.append(query)
        return spark_sql(session, query, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkSession, "sql", counted)
        yield sent


class TestAfterRun:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": sql for name, sql in MODELS.items()}

    @pytest.fixture(scope="class", autouse=True)
    def sent(self, project, statements):
        """The statements of the last of three runs."""
        for number in (1, 2, 3):
            statements.clear()
            run_dbt(["run", "--vars", f"run: {number}"])
        return list(statements)

    @pytest.fixture(scope="class")
    def files(self, rows):
        def count(table, where="true"):
            return rows(f"select count(*) from {{schema}}.`{table}$files` where {where}")[0][0]

        return count

    @pytest.fixture(scope="class")
    def commits(self, rows):
        return lambda table: rows(f"select count(*) from {{schema}}.`{table}$snapshots`")[0][0]

    @staticmethod
    def sent_about(statements, table):
        return [
            " ".join(sql.split())
            for sql in statements
            if f"`{table}`" in sql or f".{table}'" in sql or f"`{table}$" in sql
        ]

    def test_compact_by_number_of_files(self, files, rows):
        assert files("left_alone") == 3
        assert files("merged") == 1
        assert rows("select id from {schema}.merged order by 1") == [(1,), (2,), (3,)]

    def test_compact_by_number_of_commits(self, files, rows):
        # Compacted after the second run, and not after the third.
        assert files("every_second") == 2
        kinds = rows("select commit_kind from {schema}.`every_second$snapshots` order by snapshot_id")
        assert kinds == [("APPEND",), ("APPEND",), ("COMPACT",), ("APPEND",)]

    def test_compactions_of_writes_are_not_counted(self, sent, rows):
        commits = rows("select commit_kind, commit_user from {schema}.`every_third$snapshots` order by snapshot_id")
        written = {user for kind, user in commits if kind == "APPEND"}
        assert len(written) == 3
        # The second run's write compacted, so only two commits have followed the last compaction of any kind.
        assert ("COMPACT", commits[1][1]) in commits[:3]
        assert [sql for sql in self.sent_about(sent, "every_third") if "sys.compact" in sql]

    def test_cost(self, sent):
        """A policy that is not due costs one more statement than no policy."""
        base = len(self.sent_about(sent, "left_alone"))
        assert base > 0
        assert len(self.sent_about(sent, "not_due")) == base + 1
        assert not [sql for sql in sent if "sys.compact" in sql and "not_due" in sql]

    def test_order(self, files, rows):
        assert files("ordered") == 1
        assert rows("select id, other from {schema}.ordered order by 1") == [(1, 8), (2, 7), (3, 6)]
        kinds = rows("select commit_kind from {schema}.`ordered$snapshots` order by snapshot_id")
        # Paimon's own sorted compaction, which can lose rows of other writers, commits an overwrite.
        own = VERSIONS.supports(Capability.COMPACT_ORDER_IN_PROCESS)
        assert kinds[-1] == ("COMPACT" if own else "OVERWRITE",)

    def test_partitions(self, files, rows):
        per_day = rows("select file_count from {schema}.`newest$partitions` order by partition")
        assert per_day == [(3,), (1,)]
        per_n = rows("select file_count from {schema}.`chosen$partitions` order by partition")
        assert per_n == [(1,), (3,)]
        # The partition is younger than a day.
        assert files("resting") == 3

    def test_expired_partitions(self, rows):
        assert rows("select id, day from {schema}.expiring") == [(2, "29990101")]
        assert rows("select id, day, hour from {schema}.hours") == [(2, "2999-01-01", "08")]

    def test_snapshots_expire_and_tags_hold_theirs(self, rows, commits):
        assert commits("kept") == 2
        assert rows("select id from {schema}.kept version as of 'run_1'") == [(1,)]
        options = dict(rows("select key, value from {schema}.`kept$options`"))
        # Paimon's own expiry at each commit keeps the same number of table snapshots.
        assert options["snapshot.num-retained.max"] == options["snapshot.num-retained.min"] == "2"

    def test_quoted_names(self, rows, files):
        assert files("odd ``name``") == 1
        assert rows("select id from {schema}.`odd ``name``` order by 1") == [(1,), (2,), (3,)]

    def test_full_refresh_and_empty(self, project, rows):
        run_dbt(["run", "--full-refresh", "--select", "merged", "ordered", "--vars", "run: 3"])
        assert rows("select id from {schema}.merged") == [(3,)]
        run_dbt(["run", "--empty", "--select", "merged"])
        run_dbt(["compile"])

    def test_maintain(self, project, files, commits, rows, warehouse, monkeypatch):
        def maintain(expect_pass=True, **arguments):
            run_dbt(["run-operation", "maintain", "--args", str(arguments)], expect_pass=expect_pass)

        assert files("nightly") == 3
        before = commits("nightly")
        table = Path(warehouse) / f"{project.test_schema}.db" / "nightly"
        orphan = table / "bucket-0" / "data-orphan-0.parquet"
        orphan.write_bytes(b"of nobody")
        os.utime(orphan, (0, 0))
        maintain(dry_run="True")
        maintain(dry_run="yes", expect_pass=False)
        assert files("nightly") == 3
        assert commits("nightly") == before
        assert orphan.exists()
        maintain(select="path:models/left_alone.sql")
        assert files("nightly") == 3
        maintain(select=["nightly"])
        assert files("nightly") == 1
        assert commits("nightly") == 1
        assert not orphan.exists()
        assert rows("select id from {schema}.nightly order by 1") == [(1,), (2,), (3,)]
        assert files("not_due") == 3
        # Another run keeps the first table locked for too long.
        hold, asked = TableWriter.hold, []

        def too_long(builds, relation):
            asked.append(relation.identifier)
            if len(asked) == 1:
                raise WaitedTooLongError("locked")
            hold(builds, relation)

        before = files("every_second")
        monkeypatch.setattr(TableWriter, "hold", too_long)
        maintain(select="not_* every_second", force="true", expect_pass=False)
        assert sorted(asked) == ["every_second", "not_due"]
        assert (files("every_second"), files("not_due")) == ((before, 1) if asked[0] == "every_second" else (1, 3))


BROKEN = (
    "{{{{ config(materialized='incremental', incremental_strategy='append', partition_by='n', "
    "maintenance={{'compact': {{'small_files': 2}}, 'on_failure': '{}'}}) }}}} "
    "select {{{{ var('run') }}}} as id, 1 as n union all select {{{{ var('run') }}}}, {{{{ var('run') }}}}"
)


@pytest.mark.full
class TestFailure:
    """A compaction fails because a file that it has to read is missing.

    The partition has only two files: with a third, Paimon would compact the two that still exist.
    """

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "warned.sql": BROKEN.format("warn"),
            "refused.sql": BROKEN.format("error"),
            "strictly_warned.sql": BROKEN.format("warn"),
        }

    def test_rows_stay(self, project, rows, warehouse):
        schema = Path(warehouse) / f"{project.test_schema}.db"
        run_dbt(["run", "--vars", "run: 2"])
        for name in ("warned", "refused", "strictly_warned"):
            (lost,) = (schema / name / "n=1").rglob("*.parquet")
            lost.unlink()
        models = ["--select", "warned", "refused"]
        results = run_dbt(["run", *models, "--vars", "run: 3"], expect_pass=False)
        statuses = {result.node.name: str(result.status) for result in results}
        assert statuses == {"warned": "success", "refused": "error"}
        (message,) = [result.message for result in results if result.node.name == "refused"]
        assert "its rows are committed, but its maintenance failed: compact:" in message
        assert "run-operation maintain" in message
        assert "Traceback" not in message
        for name in ("warned", "refused"):
            assert rows(f"select id from {{schema}}.{name} where n = 3") == [(3,)]
            assert rows(f"select max(total_record_count) from {{schema}}.`{name}$snapshots`") == [(4,)]
        # In a separate process, because dbt keeps --warn-error in a global variable.
        arguments = ["--warn-error", "run", "--select", "strictly_warned", "--vars", "run: 3"]
        places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
        ended = subprocess.run(
            [sys.executable, "-c", "from dbt.cli.main import cli; cli()", *arguments, *places],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ended.returncode == 1, ended.stdout
        assert rows("select id from {schema}.strictly_warned where n = 3") == [(3,)]
        # The operation fails, too.
        run_dbt(["run-operation", "maintain"], expect_pass=False)


BAD = {
    "compact": (
        {"compact": {"smal_files": 3}},
        "maintenance.compact.smal_files=3: unknown key. Did you mean 'small_files'?",
    ),
    "action": ({"expire_snapshot": {"retain_max": 3}}, "Did you mean 'expire_snapshots'?"),
    "minor": ({"compact": {"strategy": "minor"}}, "needs Paimon >= 1.0"),
    "sorted": ({"compact": {"order_by": ["idd"]}}, "there is no column 'idd'. Did you mean 'id'?"),
}


class TestRefused:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": f"{{{{ config(materialized='table', maintenance={config}) }}}} select 1 as id"
            for name, (config, _) in BAD.items()
        } | {
            "merged_config.sql": "{{ config(materialized='table', maintenance={'expire_partitions': none}) }} select 1 as id",
            "async.sql": "{{ config(materialized='table', tblproperties={'snapshot.expire.execution-mode': 'async'}) }} "
            "select 1 as id",
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "models": {
                "test": {
                    "merged_config": {
                        "+maintenance": {
                            "expire_partitions": {"expiration_time": "9 d"},
                            "expire_snapshots": {"retain_max": 4},
                        }
                    }
                }
            }
        }

    def test_refused_before_any_table(self, project, rows):
        results = {r.node.name: r for r in run_dbt(["run"], expect_pass=False)}
        supported = Versions.of(str(CONNECTOR)).supports(Capability.COMPACT_STRATEGY)
        for name, (_, part) in BAD.items():
            if name == "minor" and supported:
                assert str(results[name].status) == "success"
                continue
            assert part in results[name].message, results[name].message
        assert "interrupts what still expires" in results["async"].message
        built = [row[1] for row in rows("show tables in {schema}")]
        assert sorted(built) == sorted(["merged_config"] + ["minor"] * supported)

    def test_a_folder_and_a_model_add_up(self, project, rows):
        options = dict(rows("select key, value from {schema}.`merged_config$options`"))
        assert options["snapshot.num-retained.max"] == "4"
