"""The buckets that rows are written to (fixed, dynamic or none), and keys that move between partitions."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture


def model(config: str, columns: str, *batches: str) -> str:
    """An incremental model whose nth run writes the nth batch of rows; one more run writes the last batch again."""
    shown = [*batches, batches[-1]]
    return (
        f"{{{{ config(materialized='incremental', {config}) }}}}\n"
        f"{{%- set batches = {shown} -%}}\n"
        f"select * from values {{{{ batches[var('run', 1) - 1] }}}} as t({columns})"
    )


ORDERS = "order_id, price, ts"
AT = "1.00, timestamp'2025-04-05 11:45:00'"


def orders(*numbers: int) -> str:
    return ", ".join(f"({number}L, {AT})" for number in numbers)


MOVED = ("(1, 10, 1), (2, 20, 1), (3, 30, 1), (4, 40, 1)", "(1, 11, 2)")
ACROSS = "primary_key='pk', partition_by='pt', bucket=-1"


class TestLayouts:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "wo_pk_table.sql": model("bucket=2, bucket_key='order_id'", ORDERS, orders(1), orders(2, 3), orders(2)),
            "unaware.sql": model("", ORDERS, orders(1), orders(2, 3), orders(2)),
            "with_pk_table.sql": model(
                "primary_key='order_id', bucket=-1", ORDERS, orders(1), orders(2, 3), orders(4, 5, 6, 7)
            ),
            "dynamic.sql": model(
                "primary_key='pk', bucket=-1, dynamic_bucket={'target_row_num': 2, 'initial_buckets': 1}",
                "pk, v, pt",
                "(1, 10, 1)",
                "(2, 20, 1), (3, 30, 1), (4, 40, 1), (5, 50, 1)",
                "(1, 11, 1), (5, 51, 1)",
            ),
            **{
                f"initial_{shuffles}.sql": model(
                    f"primary_key='pk', bucket=-1, dynamic_bucket={{'initial_buckets': 4}}, "
                    f"spark_config={{'spark.sql.shuffle.partitions': {shuffles}}}",
                    "pk, v",
                    *[", ".join(f"({number}, 0)" for number in range(40))] * 2,
                )
                for shuffles in (2, 8)
            },
            "moved.sql": model(f"{ACROSS}, dynamic_bucket={{'target_row_num': 2}}", "pk, v, pt", *MOVED),
            **{
                f"forgets_after_{value}_{unit}.sql": model(
                    f"{ACROSS}, tblproperties={{'cross-partition-upsert.index-ttl': '{value} {unit}'}}",
                    "pk, v, pt",
                    *MOVED,
                )
                for value, unit in ((1, "ms"), (1, "d"))
            },
            # The merge engines that leave a key in its old partition.
            "filled.sql": model(f"{ACROSS}, merge_engine='partial-update'", "pk, v, pt", *MOVED),
            "first.sql": model(f"{ACROSS}, merge_engine='first-row'", "pk, v, pt", *MOVED),
            "first_rebuilt.sql": (
                f"{{{{ config(materialized='table', {ACROSS}, merge_engine='first-row') }}}} "
                "select 1 as pk, 10 * {{ var('run', 1) }} as v, {{ var('run', 1) }} as pt union all select 2, 20, 1"
            ),
        }

    @pytest.fixture(scope="class", autouse=True)
    def _runs(self, project):
        for run in (1, 2, 3):
            run_dbt(["run", "--vars", f"run: {run}"])

    @pytest.fixture
    def layout(self, rows):
        """Function: the bucket and the number of rows of each file in a table."""
        return lambda name: rows(
            f"select bucket, record_count from {{schema}}.`{name}$files` order by bucket, record_count"
        )

    def test_append_tables(self, rows, layout):
        # Keys 1 and 2 hash to bucket 0, key 3 to bucket 1. Rows with the same key share a bucket.
        assert layout("wo_pk_table") == [(0, 1), (0, 1), (0, 1), (1, 1)]
        assert {bucket for bucket, _ in layout("unaware")} == {0}
        for name in ("wo_pk_table", "unaware"):
            found = rows(f"select order_id from {{schema}}.{name} order by 1")
            assert found == [(1,), (2,), (2,), (3,)], "append tables keep equal rows"

    def test_a_primary_key_has_dynamic_buckets(self, project, rows, layout):
        assert rows("select value from {schema}.`with_pk_table$options` where key = 'bucket'") == [("-1",)]
        project.run_sql("delete from {database}.{schema}.with_pk_table where order_id in (2, 3)")
        run_dbt(["run-operation", "compact", "--args", "{relation: with_pk_table}"])
        assert rows("select order_id from {schema}.with_pk_table order by 1") == [
            (1,),
            (4,),
            (5,),
            (6,),
            (7,),
        ]
        assert sum(count for _, count in layout("with_pk_table")) == 5, "no file has the deleted rows"

    def test_a_bucket_takes_so_many_keys(self, rows, layout):
        found = dict.fromkeys(range(3), 0)
        for bucket, count in layout("dynamic"):
            found[bucket] += count
        # Two keys each in buckets 0 and 1, one in bucket 2. Keys 1 and 5 were written again, each into its own bucket.
        assert found == {0: 3, 1: 2, 2: 2}
        assert rows("select v from {schema}.dynamic order by pk") == [(11,), (20,), (30,), (40,), (51,)]

    def test_as_many_buckets_at_once_as_tasks_write(self, layout):
        """dynamic-bucket.initial-buckets is an upper limit: each task that assigns buckets starts with one."""
        for shuffles, buckets in ((2, 2), (8, 4)):
            assert len({bucket for bucket, _ in layout(f"initial_{shuffles}")}) == buckets

    def test_a_key_moves_to_its_new_partition(self, rows):
        assert rows("select * from {schema}.moved order by pk") == [
            (1, 11, 2),
            (2, 20, 1),
            (3, 30, 1),
            (4, 40, 1),
        ]

    def test_an_update_of_the_partition_moves_its_key(self, rows):
        rows("update {schema}.moved set v = 41, pt = 3 where pk = 4")
        assert rows("select * from {schema}.moved where pk = 4") == [(4, 41, 3)]
        rows("update {schema}.moved set v = 40, pt = 1 where pk = 4")

    def test_a_key_older_than_index_ttl_is_written_twice(self, rows):
        """The index no longer has the key, so the writer treats it as a new key."""
        where = "select v, pt from {schema}.%s where pk = 1 order by pt"
        assert rows(where % "forgets_after_1_ms") == [(10, 1), (11, 2)]
        assert rows(where % "forgets_after_1_d") == [(11, 2)]

    def test_engines_that_leave_it_in_the_old_one(self, rows):
        assert rows("select * from {schema}.filled where pk = 1") == [(1, 11, 1)]
        assert rows("select * from {schema}.first where pk = 1") == [(1, 10, 1)]

    def test_a_rebuild_goes_by_the_query_alone(self, rows):
        """Paimon's INSERT OVERWRITE would drop key 1, because the key was in another partition before."""
        assert rows("select * from {schema}.first_rebuilt order by pk") == [(1, 30, 3), (2, 20, 1)]

    def test_no_compaction_of_keys_that_move(self, project):
        arguments = ["run-operation", "compact", "--args", "{relation: moved}"]
        assert "only while writing to it" in run_dbt_and_capture(arguments, expect_pass=False)[1]


class TestRefusedAndWarned:
    @pytest.fixture(scope="class")
    def models(self):
        one = "select 1 as pk, 10 as v, 1 as pt, '+I' as op"
        return {
            "key_without_buckets.sql": "{{ config(materialized='table', bucket=-1, bucket_key='pk') }}" + one,
            "overwritten.sql": f"{{{{ config(materialized='incremental', incremental_strategy='insert_overwrite', {ACROSS}) }}}}"
            + one,
            "row_kinds.sql": f"{{{{ config(materialized='table', {ACROSS}, rowkind_field='op') }}}}" + one,
            "not_dynamic.sql": "{{ config(materialized='table', primary_key='pk', bucket=2, dynamic_bucket={'target_row_num': 3}) }}"
            + one,
        }

    @pytest.fixture(scope="class")
    def refused(self, project):
        results = run_dbt(["run", "--exclude", "not_dynamic"], expect_pass=False)
        return {result.node.name: result.message for result in results}

    def test_refused(self, refused, rows):
        said = refused["key_without_buckets"]
        assert "Cannot define 'bucket-key' with bucket = -1" in said
        assert "Set bucket to a number from 1, or remove bucket_key" in said
        assert "would delete all rows of its old one. Use 'upsert'" in refused["overwritten"]
        assert "Add pt to primary_key, or remove rowkind_field" in refused["row_kinds"]
        assert rows("show tables in {schema}") == []

    def test_warned(self, project, rows):
        """dbt warns before it creates the table, so with --warn-error there is no table."""
        select = ["--select", "not_dynamic"]
        results = run_dbt(["--warn-error", "run", *select], expect_pass=False)
        assert "dynamic_bucket.target_row_num=3" in results[0].message and not rows("show tables in {schema}")
        assert len(run_dbt(["run", *select])) == 1
        assert rows("select bucket from {schema}.`not_dynamic$files`") != []
