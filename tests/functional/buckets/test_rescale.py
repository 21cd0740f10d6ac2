"""A run refuses a changed number of buckets; `rescale` applies the new number."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture
from tests.functional.conftest import CONNECTOR

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spark.session import SessionCursor
from dbt.adapters.paimon.spec.auto_buckets import RESCALING

# Whether Paimon refuses rows for a partition whose number of buckets differs from the table's.
GUARDED = Versions.of(CONNECTOR).supports(Capability.OLD_BUCKETS_GUARDED)

PARTITIONED = """
{{ config(materialized='incremental', primary_key=['id', "it's"], partition_by="it's", bucket=var('bucket')) }}
select cast(id as int) as id, {{ var('run') }} as v, {{ "concat('p', id % 2)" if var('run') == 1 else var('into') }} as `it's`
from range({{ 8 if var('run') == 1 else 1 }})
"""
APPENDED = """
{{ config(
    materialized='incremental', bucket=var('bucket'), bucket_key='id',
    post_hook=["{{ rescale(this, 4) if var('rescaled', false) }}"]
) }}
select id, {{ var('run') }} as v from range(4)
"""

KEYED = """
{{ config(materialized='incremental', primary_key='id', bucket=var('bucket')) }}
select cast(id as int) as id, {{ var('run') }} as v from range(4)
"""
FAILING = KEYED.rstrip() + """ where {{ "raise_error('no') is null" if var('fails', false) else 'true' }}"""
# Logs what each run reads: a row occurs once for each run that reads it.
CHANGES = """
{{ config(materialized='incremental') }}
select id, v, {{ var('run') }} as run from {{ paimon_changes(ref('keyed')) }}
"""
STREAM = """
{{ config(materialized='streaming') }}
select id, v, {{ var('run') }} as run from {{ stream(ref('keyed')) }}
"""
VIEW = """
{{ config(materialized='materialized_view', refresh_mode='incremental') }}
select v, count(*) as n from {{ ref('keyed') }} group by v
"""


def values(**given) -> list[str]:
    return ["--vars", str(given)]


class TestRescale:
    @pytest.fixture(scope="class")
    def models(self):
        return {"partitioned.sql": PARTITIONED, "appended.sql": APPENDED, "failing.sql": FAILING}

    @pytest.fixture
    def buckets(self, rows):
        """Function: (partition, bucket) of each bucket with files."""

        def read(name: str) -> list[tuple]:
            return rows(
                "select distinct regexp_replace(partition, '[^p0-9]', ''), bucket "
                f"from {{schema}}.`{name}$files` order by 1, 2"
            )

        return read

    def test_the_run_after_a_failed_rebuild_moves_the_rows(self, project, rows, buckets):
        run = ["run", "--select", "failing"]
        run_dbt([*run, *values(bucket=1, run=1)])
        run_dbt([*run, "--full-refresh", *values(bucket=4, run=2, fails=True)], expect_pass=False)
        run_dbt([*run, *values(bucket=4, run=3)])
        assert rows("select id, v from {schema}.failing order by id") == [(number, 3) for number in range(4)]
        assert len(buckets("failing")) > 1
        assert "rescaling" not in dict(rows("select key, value from {schema}.`failing$options`")).values()
        run_dbt([*run, "--full-refresh", *values(bucket=2, run=4)])
        assert rows("select id, v from {schema}.failing order by id") == [(number, 4) for number in range(4)]
        assert "rescaling" not in dict(rows("select key, value from {schema}.`failing$options`")).values()

    def rescale(self, expect_pass: bool = True, **arguments) -> str:
        """Run `rescale`, and return its output."""
        return run_dbt_and_capture(["run-operation", "rescale", "--args", str(arguments)], expect_pass=expect_pass)[1]

    def test_partition_by_partition(self, project, rows, buckets):
        one = ["run", "--select", "partitioned"]
        contents = "select id, v, `it's` from {schema}.partitioned order by 1, 3"
        run_dbt([*one, *values(run=1, bucket=2)])
        before = rows(contents)
        assert len(before) == 8 and {bucket for _, bucket in buckets("partitioned")} == {0, 1}

        # A changed config is refused before any SQL, and the message has the remedy.
        (result,) = run_dbt([*one, *values(run=2, bucket=4, into="'p0'")], expect_pass=False)
        assert "bucket: '2' -> '4': rows written before keep the old number of buckets" in result.message
        assert "dbt run-operation rescale --args '{relation: partitioned, bucket_num: 4}'" in result.message
        assert rows("select value from {schema}.`partitioned$options` where key = 'bucket'") == [("2",)]

        only_p0 = {"relation": "partitioned", "bucket_num": 4, "partitions": [{"it's": "p0"}]}
        if GUARDED:
            old = [bucket for partition, bucket in buckets("partitioned") if partition == "p1"]
            self.rescale(**only_p0)
            assert max(bucket for partition, bucket in buckets("partitioned") if partition == "p0") > 1
            assert [bucket for partition, bucket in buckets("partitioned") if partition == "p1"] == old
            # Paimon refuses rows for the other partition until it is rescaled, too.
            (result,) = run_dbt([*one, *values(run=2, bucket=4, into="'p1'")], expect_pass=False)
            assert "with a new bucket num 4, but the previous bucket num is 2" in result.message
            assert "dbt run-operation rescale" in result.message
            self.rescale(relation="partitioned")
        else:
            # Newer connectors would accept rows for the other partition and duplicate keys, so this rescale is refused.
            assert "keys written to them again would be duplicated" in self.rescale(expect_pass=False, **only_p0)
            assert rows("select value from {schema}.`partitioned$options` where key = 'bucket'") == [("2",)]
            self.rescale(relation="partitioned", bucket_num=4)
        assert rows(contents) == before
        assert rows("select value from {schema}.`partitioned$options` where key = 'bucket'") == [("4",)]
        assert len(rows("select snapshot_id from {schema}.`partitioned$snapshots`")) > 1, "history stays"

        run_dbt([*one, *values(run=2, bucket=4, into="'p0'")])
        run_dbt([*one, *values(run=3, bucket=4, into="'p1'")])
        assert rows("select v, `it's` from {schema}.partitioned where id = 0 order by 2") == [
            (2, "p0"),
            (3, "p1"),
        ]
        assert rows("select count(*) from {schema}.partitioned") == [(9,)]

    def test_a_partition_without_rows(self, project, rows):
        options = "'primary-key' = 'id,p', 'bucket' = '2'"
        rows(f"create table {{schema}}.emptied (id int, p int, v int) partitioned by (p) tblproperties ({options})")
        rows(
            "insert into {schema}.emptied select cast(id as int), p, 1 from range(8) cross join values (0), (1) as t(p)"
        )
        rows("delete from {schema}.emptied where p = 1 and v > 0")
        self.rescale(relation="emptied", bucket_num=4)
        rows("insert into {schema}.emptied select cast(id as int), 1, 2 from range(8)")
        assert rows("select p, v, count(*) from {schema}.emptied group by p, v order by p") == [(0, 1, 8), (1, 2, 8)]

    def test_an_append_table_by_a_hook(self, project, rows, buckets):
        one = ["run", "--select", "appended"]
        run_dbt([*one, *values(run=1, bucket=2)])
        run_dbt([*one, *values(run=2, bucket=2, rescaled=True)])
        assert rows("select value from {schema}.`appended$options` where key = 'bucket'") == [("4",)]
        assert max(bucket for _, bucket in buckets("appended")) > 1
        assert rows("select id, v from {schema}.appended order by 2, 1") == [
            (id_, v) for v in (1, 2) for id_ in range(4)
        ]

    def test_the_last_statement_fails(self, project, rows, buckets, monkeypatch):
        """The rows are in the new buckets, so the table keeps the new number, and the next run finishes the rescale."""
        run, number = SessionCursor._run, "select value from {schema}.`appended$options` where key = 'bucket'"

        def fails(cursor, statement, *args):
            if "unset tblproperties" in statement:
                raise RuntimeError("the catalog does not answer")
            return run(cursor, statement, *args)

        before = rows("select id, v from {schema}.appended order by 2, 1")
        with monkeypatch.context() as patch:
            patch.setattr(SessionCursor, "_run", fails)
            self.rescale(expect_pass=False, relation="appended", bucket_num=3)
        assert rows(number) == [("3",)]
        assert rows("select id, v from {schema}.appended order by 2, 1") == before
        run_dbt(["run", "--select", "appended", *values(run=3, bucket=3)])
        assert rows("select id, v from {schema}.appended order by 2, 1") == [*before, *((id_, 3) for id_ in range(4))]
        assert rows(f"select count(*) from {{schema}}.`appended$options` where value = '{RESCALING}'") == [(0,)]

    def test_the_rewrite_fails_after_its_commit(self, project, rows, buckets, monkeypatch):
        """The compaction of the rewrite fails: the rows are in the new buckets, so the table keeps the new number."""
        run, number = SessionCursor._run, "select value from {schema}.`appended$options` where key = 'bucket'"

        def fails(cursor, statement, *args):
            ran = run(cursor, statement, *args)
            if "insert overwrite" in statement or "sys.rescale" in statement:
                raise RuntimeError("the compaction fails")
            return ran

        contents = "select id, v from {schema}.appended order by 2, 1"
        before = rows(contents)
        with monkeypatch.context() as patch:
            patch.setattr(SessionCursor, "_run", fails)
            output = self.rescale(expect_pass=False, relation="appended", bucket_num=5)
        assert "may be in the new buckets already" in output
        assert rows(number) == [("5",)] and max(bucket for _, bucket in buckets("appended")) > 2
        run_dbt(["run", "--select", "appended", *values(run=4, bucket=5)])
        assert rows(contents) == [*before, *((id_, 4) for id_ in range(4))]
        assert rows(f"select count(*) from {{schema}}.`appended$options` where value = '{RESCALING}'") == [(0,)]

    def test_a_rollback_behind_a_rescale(self, project, rows, buckets):
        """The rollback is refused. The remedy in its message restores the rows, files and number of buckets."""
        option = "select value from {schema}.`back$options` where key = 'bucket'"
        contents = "select * from {schema}.back"
        rows("create table {schema}.back (id int, v int) tblproperties ('primary-key' = 'id', 'bucket' = '1')")
        rows("insert into {schema}.back values (1, 1), (2, 1), (3, 1), (4, 1)")
        rows("call paimon.sys.create_tag(table => '{schema}.back', tag => 'one')")
        self.rescale(relation="back", bucket_num=4)
        rows("insert into {schema}.back values (1, 2)")
        after = sorted(rows(contents))
        for version in (1, "one"):
            back = ["run-operation", "rollback_to", "--args", str({"relation": "back", "version": version})]
            output = " ".join(run_dbt_and_capture(back, expect_pass=False)[1].split())
            assert "this state has 1 bucket(s) and the table now has 4" in output
            assert f"rescale --args '{{relation: paimon.{project.test_schema}.back, bucket_num: 1}}'" in output
        assert (sorted(rows(contents)), rows(option)) == (after, [("4",)])
        self.rescale(relation=f"paimon.{project.test_schema}.back", bucket_num=1)
        assert sorted(rows(contents)) == after
        run_dbt(back)
        assert rows(option) == [("1",)] and {bucket for _, bucket in buckets("back")} == {0}
        rows("insert into {schema}.back values (1, 3), (4, 3)")
        assert sorted(rows(contents)) == [(1, 3), (2, 1), (3, 1), (4, 3)]

    def test_a_full_refresh_takes_the_new_number(self, project, rows, buckets):
        run_dbt(["run", "--full-refresh", "--select", "appended", *values(run=1, bucket=1)])
        assert {bucket for _, bucket in buckets("appended")} == {0}

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"relation": "partitioned", "bucket_num": 0}, "must be at least 1"),
            ({"relation": "partitioned", "partitions": [{"id": 1}]}, "id is not a partition column"),
            ({"relation": "appended", "partitions": [{"id": 1}]}, "partitions: the table has no partitions"),
        ],
    )
    def test_refused(self, project, rows, arguments, said):
        count = "select count(*) from {schema}.`partitioned$snapshots`"
        before = rows(count)
        assert said in self.rescale(expect_pass=False, **arguments)
        assert rows(count) == before


class TestReaders:
    """A rescale changes no row, so readers of the table's changes read no change, and continue afterwards."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"keyed.sql": KEYED, "changes.sql": CHANGES, "streamed.sql": STREAM, "viewed.sql": VIEW}

    def test_they_go_on(self, project, rows):
        run_dbt(["run", *values(run=1, bucket=2)])
        run_dbt(["run-operation", "rescale", "--args", "{relation: keyed, bucket_num: 4}"])
        run_dbt(["run", "--exclude", "keyed", *values(run=2, bucket=4)])
        first = [(id_, 1, 1) for id_ in range(4)]
        for reader in ("changes", "streamed"):
            assert rows(f"select id, v, run from {{schema}}.{reader} order by 3, 1") == first
        assert rows("select v, n from {schema}.viewed") == [(1, 4)]

        run_dbt(["run", *values(run=3, bucket=4)])
        for reader in ("changes", "streamed"):
            found = rows(f"select id, v, run from {{schema}}.{reader} order by 3, 1")
            assert found == [*first, *((id_, 3, 3) for id_ in range(4))]
        assert rows("select v, n from {schema}.viewed") == [(3, 4)]
