"""With `bucket: auto`, the first rows decide the number of buckets, and the table keeps that number."""

from __future__ import annotations

import json

import pytest
from dbt.tests.util import get_connection, run_dbt

from dbt.adapters.paimon.spec import auto_buckets

AUTO = "{{ config(materialized='incremental', primary_key='id', bucket='auto') }} "
MODELS = {
    "small.sql": AUTO + "select id, {{ var('run', 0) }} as run from range(100)",
    # Spark's estimate ignores the filter: it expects all rows of the range.
    "expected_large.sql": "{{ config(materialized='incremental', primary_key='id', bucket='auto', "
    "spark_config={'spark.sql.shuffle.partitions': 16}) }} "
    "select id, id as other from range(200000000) where id < 10",
    # Spark's estimate is the product of both sides' rows.
    "joined.sql": AUTO + "select a.id from range(300000) as a join range(400000) as b on a.id = b.id and b.id < 9",
    "none_yet.sql": AUTO + "select id, {{ var('run', 0) }} as run from range({{ var('rows', 0) }})",
    "partitioned.sql": "{{ config(materialized='incremental', primary_key=['id', 'p'], partition_by='p', bucket='auto') }} "
    "select id, id % 3 as p from range(100)",
    "moving.sql": "{{ config(materialized='incremental', primary_key='id', partition_by='p', bucket='auto') }} "
    "select id, id % 3 as p from range(100)",
    "appended.sql": "{{ config(materialized='table', bucket='auto') }} select id from range(10)",
    "spread.sql": "{{ config(materialized='table', bucket='auto', bucket_key='id') }} select id from range(10)",
    "rebuilt.sql": "{{ config(materialized='table', primary_key='id', bucket='auto') }} select id from range(10)",
    "growing.sql": "{{ config(materialized='incremental', primary_key='id', bucket='auto', "
    "maintenance={'rescale': {'max_bucket_size': '16 kb'}}) }} "
    "select id, uuid() as text, {{ var('run', 0) }} as run from range(1000)",
    "dynamic.sql": "{{ config(materialized='incremental', primary_key='id', bucket=var('bucket', -1)) }} "
    "select id, {{ var('run', 0) }} as run from range(10)",
}
LARGE = (
    "{{ config(materialized='incremental', primary_key='id', bucket='auto') }} "
    "select id, uuid() as a, uuid() as b, uuid() as c from range({{ 3 if is_incremental() else 1200000 }})"
)


def options(rows, table):
    return dict(rows(f"select key, value from {{schema}}.`{table}$options`"))


def number(rows, table):
    return options(rows, table).get("bucket")


def buckets(rows, table):
    return {row[0] for row in rows(f"select distinct bucket from {{schema}}.`{table}$files`")}


class TestAuto:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"seeded.csv": "id,name\n1,a\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "kept.yml": "snapshots: [{name: kept, relation: ref('small'), config: {unique_key: id, strategy: check, "
            "check_cols: [run], bucket: auto}}]"
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+primary_key": "id", "+bucket": "auto"}}

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        run_dbt(["build"])

    @pytest.mark.parametrize("table", ["small", "partitioned", "spread", "rebuilt", "joined", "seeded", "kept"])
    def test_small_tables_have_one(self, rows, table):
        assert number(rows, table) == "1"
        assert buckets(rows, table) == {0}
        assert auto_buckets.BUCKET_STATE_OPTION not in options(rows, table)

    def test_an_estimate_far_off_is_mended_before_the_table_has_its_name(self, rows):
        assert number(rows, "expected_large") == "1"
        assert buckets(rows, "expected_large") == {0}
        assert rows("select count(*), sum(other) from {schema}.expected_large") == [(10, 45)]

    @pytest.mark.parametrize("table", ["moving", "appended"])
    def test_tables_that_cannot_have_fixed_ones(self, rows, table):
        assert number(rows, table) in (None, "-1")

    def test_later_runs_keep_it(self, rows):
        run_dbt(["build", "--vars", "run: 1"])
        assert rows("select distinct run from {schema}.small") == [(1,)]
        assert rows("select count(*) from {schema}.kept") == [(200,)]
        for table in ("small", "partitioned", "rebuilt", "seeded", "kept"):
            assert number(rows, table) == "1"

    def test_a_table_without_rows_is_open(self, rows):
        assert options(rows, "none_yet")[auto_buckets.BUCKET_STATE_OPTION] == auto_buckets.UNDECIDED
        run_dbt(["run", "--select", "none_yet", "--vars", "{rows: 4000000, run: 2}"])
        for run in (3, 4):
            assert number(rows, "none_yet") == "2"
            assert buckets(rows, "none_yet") == {0, 1}
            run_dbt(["run", "--select", "none_yet", "--vars", f"{{rows: 10, run: {run}}}"])
        assert auto_buckets.BUCKET_STATE_OPTION not in options(rows, "none_yet")
        counted = "select count(*), min(run), max(run) from {schema}.none_yet"
        assert rows(counted) == [(4_000_000, 2, 4)]

    def test_rescaled_it_stays(self, rows):
        run_dbt(["run-operation", "rescale", "--args", "{relation: small, bucket_num: 3}"])
        run_dbt(["run", "--select", "small", "--vars", "run: 5"])
        assert number(rows, "small") == "3"
        assert rows("select count(*), min(run) from {schema}.small") == [(100, 5)]

    def test_a_policy_rescales_what_has_outgrown_its_number(self, rows):
        def maintained(**arguments):
            (result,) = run_dbt(["run-operation", "maintain", "--args", json.dumps(arguments)]).results
            return result

        before = rows("select * from {schema}.growing order by id")
        maintained(select="growing", dry_run=True)
        assert number(rows, "growing") == "1"
        maintained(select="growing")
        grown = int(number(rows, "growing"))
        assert grown > 1
        assert len(buckets(rows, "growing")) == grown
        assert rows("select * from {schema}.growing order by id") == before
        maintained(select="growing")
        assert int(number(rows, "growing")) == grown
        run_dbt(["run", "--select", "growing", "--vars", "run: 1"])
        assert rows("select distinct run from {schema}.growing") == [(1,)]

    @pytest.mark.parametrize("table", ["partitioned", "kept"])
    def test_a_rescale_that_was_killed_is_done_again(self, rows, table):
        before = rows(f"select count(*) from {{schema}}.{table}")
        rows(f"alter table {{schema}}.{table} set tblproperties ('dbt.buckets' = 'rescaling')")
        rows(f"alter table {{schema}}.{table} set tblproperties ('bucket' = '2')")
        run_dbt(["build", "--select", table, "--vars", "run: 6"])
        assert buckets(rows, table) == {0, 1}
        assert number(rows, table) == "2"
        assert auto_buckets.BUCKET_STATE_OPTION not in options(rows, table)
        assert rows(f"select count(*) from {{schema}}.{table}") >= before

    def test_an_existing_table_keeps_its_buckets(self, rows):
        assert number(rows, "dynamic") == "-1"
        run_dbt(["run", "--select", "dynamic", "--vars", "{bucket: auto, run: 1}"])
        assert number(rows, "dynamic") == "-1"
        assert rows("select count(*), min(run) from {schema}.dynamic") == [(10, 1)]
        run_dbt(["run", "--select", "dynamic", "--full-refresh", "--vars", "{bucket: auto, run: 2}"])
        assert number(rows, "dynamic") == "-1"
        assert rows("select count(*), min(run) from {schema}.dynamic") == [(10, 2)]
        run_dbt(["run", "--select", "dynamic", "--full-refresh", "--vars", "{bucket: 2, run: 3}"])
        assert number(rows, "dynamic") == "2"
        assert rows("select count(*), min(run) from {schema}.dynamic") == [(10, 3)]


class TestDefault:
    """New tables without a config for buckets."""

    @pytest.fixture(scope="class")
    def models(self):
        keyed = "{{ config(materialized='incremental', primary_key='id'%s) }} select id, {{ var('run', 0) }} as run from range(9)"
        return {
            "keyed.sql": keyed % "",
            "old.sql": keyed % "",
            "told.sql": keyed % ", bucket=-1",
            "told_otherwise.sql": keyed % ", dynamic_bucket={'target_row_num': 3}",
            "moving.sql": MODELS["moving.sql"].replace(", bucket='auto'", ""),
            "appended.sql": "{{ config(materialized='table') }} select id from range(9)",
            # Spark does not know the size of an RDD, and assumes 8 EiB.
            "of_rows.py": "def model(dbt, session):\n"
            "    dbt.config(materialized='table', primary_key='id')\n"
            "    return session.createDataFrame([(number,) for number in range(9)], 'id int')\n",
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"seeded.csv": "id,name\n1,a\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "kept.yml": "snapshots: [{name: kept, relation: ref('keyed'), config: {unique_key: id, strategy: check, "
            "check_cols: [run]}}]"
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+primary_key": "id"}}

    def test_new_tables_have_fixed_ones_and_others_keep_theirs(self, project, rows):
        rows("create table {schema}.old (id bigint not null, run int) tblproperties ('primary-key' = 'id')")
        for run in (1, 2):
            run_dbt(["build", "--vars", f"run: {run}"])
        for table in ("keyed", "seeded", "kept"):
            assert number(rows, table) == "1", table
        assert number(rows, "of_rows") == "2"
        for table in ("old", "told", "told_otherwise", "moving", "appended"):
            assert number(rows, table) in (None, "-1"), table
        for table in ("keyed", "old", "told"):
            assert rows(f"select count(*), min(run) from {{schema}}.{table}") == [(9, 2)]
        assert rows("select count(*) from {schema}.kept") == [(18,)]


class TestDynamicByDefault:
    """With the flag `use_auto_buckets` off."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"keyed.sql": "{{ config(materialized='table', primary_key='id') }} select id from range(9)"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"flags": {"use_auto_buckets": False}}

    def test_buckets_are_dynamic(self, project, rows):
        run_dbt(["run"])
        assert number(rows, "keyed") is None


class TestEmptyRun:
    @pytest.fixture(scope="class")
    def models(self):
        return {"small.sql": MODELS["small.sql"]}

    def test_nothing_is_decided(self, project, rows):
        run_dbt(["run", "--empty"])
        assert options(rows, "small")[auto_buckets.BUCKET_STATE_OPTION] == auto_buckets.UNDECIDED
        run_dbt(["run", "--empty"])
        assert options(rows, "small")[auto_buckets.BUCKET_STATE_OPTION] == auto_buckets.UNDECIDED
        for run in (1, 2):
            run_dbt(["run", "--vars", f"run: {run}"])
        assert auto_buckets.BUCKET_STATE_OPTION not in options(rows, "small")
        assert rows("select count(*) from {schema}.small") == [(100,)]


class TestLarge:
    @pytest.fixture(scope="class")
    def models(self):
        return {"large.sql": LARGE}

    def test_each_bucket_has_its_task(self, project, rows):
        (result,) = run_dbt(["run"])
        assert number(rows, "large") == "2"
        with get_connection(project.adapter):
            session = project.adapter.connections.get_thread_connection().handle.session
            store = session.sparkContext._jsc.sc().statusStore()
            read = max(map(_rows_read, _tasks(store, result.adapter_response["spark_job_ids"])), key=sum)
        assert sorted(read, reverse=True)[:2] == [pytest.approx(600_000, rel=0.01)] * 2
        run_dbt(["run"])
        assert rows("select count(*) from {schema}.large") == [(1_200_000,)]


@pytest.mark.full
class TestOutgrown:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "growing.sql": "{{ config(materialized='incremental', primary_key='id', bucket='auto', "
            "spark_config={'spark.sql.shuffle.partitions': 64}) }} "
            "select id, uuid() as a, uuid() as b, uuid() as c from range({{ var('rows') }})"
        }

    def test_a_table_that_has_outgrown_its_buckets_is_warned_about(self, project, rows):
        """The run warns after its commit; --warn-error turns the warning into an error."""
        run = ["--warn-error", "run", "--vars"]
        run_dbt([*run, "rows: 3"])
        assert number(rows, "growing") == "1"
        (result,) = run_dbt([*run, "rows: 2000000"], expect_pass=False)
        assert "has outgrown its 1 bucket" in result.message
        assert rows("select count(*) from {schema}.growing") == [(2_000_000,)]
        arguments = f"{{relation: {project.test_schema}.growing, bucket_num: 4}}"
        run_dbt(["run-operation", "rescale", "--args", arguments])
        run_dbt([*run, "rows: 3"])
        assert number(rows, "growing") == "4"
        assert rows("select count(*), count(distinct id) from {schema}.growing") == [(2_000_000, 2_000_000)]


def _listed(scala):
    return [scala.apply(index) for index in range(scala.size())]


def _tasks(store, jobs):
    """The tasks of each stage of the jobs, without the skipped stages."""
    for job in jobs:
        for stage in _listed(store.job(job).stageIds()):
            try:
                attempt = store.lastStageAttempt(stage).attemptId()
            except Exception:  # noqa: BLE001 - a stage that was skipped
                continue
            yield _listed(store.taskList(stage, attempt, 1000))


def _rows_read(tasks):
    return [task.taskMetrics().get().shuffleReadMetrics().recordsRead() for task in tasks]
