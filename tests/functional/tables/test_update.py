"""UPDATE of an append table, step by step as in docs/update.md: plan, rows and files before and after."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities import Capability

# One file with three rows, and one with a single row.
MODEL = """
{{ config(materialized='incremental', incremental_strategy='append') }}
{% if is_incremental() %}select 4 as id, 'a4' as data
{% else %}select /*+ coalesce(1) */ * from values (1, 'a1'), (2, 'a2'), (3, 'a3') as v (id, data){% endif %}
"""
BUCKETED = """
{{ config(materialized='table', partition_by='day', bucket=4, bucket_key='id') }}
select id, if(id < 3, 'mon', 'tue') as day from range(1, 6)
"""
TRACKED = """
{{ config(materialized='table', tblproperties={'row-tracking.enabled': true}) }}
select * from values (1, 'a1'), (2, 'a2'), (3, 'a3') as v (id, data)
"""
PLACE = "__paimon_file_path, __paimon_row_index"


class TestUpdate:
    @pytest.fixture(scope="class")
    def models(self):
        return {"t.sql": MODEL, "bucketed.sql": BUCKETED}

    @pytest.fixture(scope="class")
    def before(self, project, rows):
        """(rows, file and position of each row, row count of each file) before the UPDATE."""
        for _ in range(2):
            run_dbt(["run"])
        return self.state(rows)

    @staticmethod
    def state(rows):
        return (
            dict(rows("select id, data from {schema}.t")),
            {row[0]: (row[1].rsplit("/", 1)[-1], row[2]) for row in rows(f"select id, {PLACE} from {{schema}}.t")},
            dict(rows("select regexp_extract(file_path, '[^/]+$', 0), record_count from {schema}.`t$files`")),
        )  # fmt: skip

    @pytest.fixture(scope="class")
    def after(self, before, rows):
        rows("update {schema}.t set data = 'b1' where id = 1")
        return self.state(rows)

    def test_plan(self, before, rows):
        """Paimon's rule replaces Spark's UPDATE, which has no plan for tables that cannot update rows in place."""
        ((plan,),) = rows("explain extended update {schema}.t set data = 'b1' where id = 1")
        assert "UpdatePaimonTableCommand" in plan

    def test_where_a_row_is(self, before):
        _, places, files = before
        assert {name for name, _ in places.values()} == set(files)
        shared = places[1][0]
        assert files[shared] == 3 and files[places[4][0]] == 1
        assert [places[number] for number in (1, 2, 3)] == [(shared, 0), (shared, 1), (shared, 2)]

    @pytest.mark.needs(Capability.PARTITION_AND_BUCKET_COLUMNS)
    def test_its_partition_and_bucket(self, before, rows):
        place = "__paimon_partition.day, __paimon_bucket, __paimon_file_path"
        found = rows(f"select id, day, {place} from {{schema}}.bucketed order by id")
        assert [row[0] for row in found] == [1, 2, 3, 4, 5]
        for _, day, partition, bucket, path in found:
            assert partition == day
            assert f"/day={day}/bucket-{bucket}/" in path

    def test_its_file_is_written_anew_with_the_rows_beside_it(self, before, after):
        (data, places, files), (new_data, new_places, new_files) = before, after
        assert new_data == data | {1: "b1"}
        # The file without a match stays. The other is replaced by a new file with all of its rows.
        assert new_places[4] == places[4]
        (written,) = set(new_files) - set(files)
        assert set(files) - set(new_files) == {places[1][0]}
        assert new_files[written] == 3
        assert {new_places[number][0] for number in (1, 2, 3)} == {written}

    def test_the_table_snapshot_of_before_has_its_file(self, after, before, rows):
        assert dict(rows("select id, data from {schema}.t version as of 2")) == before[0]


class TestRowTracking:
    @pytest.fixture(scope="class")
    def models(self):
        return {"tracked.sql": TRACKED}

    @pytest.mark.needs(Capability.ROW_TRACKING)
    def test_a_row_keeps_its_id(self, project, rows):
        run_dbt(["run"])
        ids = "select id, _row_id, _sequence_number from {schema}.tracked order by id"
        before = rows(ids)
        assert [row_id for _, row_id, _ in before] == [0, 1, 2]
        rows("update {schema}.tracked set data = 'b1' where _row_id = 0")
        assert rows("select data from {schema}.tracked order by id") == [("b1",), ("a2",), ("a3",)]
        after = rows(ids)
        assert [row[:2] for row in after] == [row[:2] for row in before]
        # Only the changed row has a higher sequence number.
        assert [new[2] > old[2] for old, new in zip(before, after, strict=True)] == [True, False, False]
