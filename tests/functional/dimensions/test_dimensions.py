"""Slowly changing dimensions: late and out-of-order rows, in increments and in one full refresh."""

from __future__ import annotations

from itertools import chain

import pytest
from dbt.tests.util import run_dbt

UPDATES = """
{{ config(materialized='table', primary_key='message_no', bucket=1) }}
select * from values
    (1, 1, 'ann', timestamp'2025-10-01 00:00:00'),
    (2, 2, 'bob', timestamp'2025-10-01 00:00:00'),
    (3, 1, 'ANN', timestamp'2025-10-05 00:00:00'),
    -- late: splits the interval of 1
    (4, 1, 'Ann', timestamp'2025-10-03 00:00:00'),
    -- earlier than all
    (5, 2, 'b', timestamp'2025-09-01 00:00:00'),
    -- late, and earlier than all
    (6, 3, 'cid', timestamp'2025-10-09 00:00:00'),
    (7, 3, 'c', timestamp'2025-10-02 00:00:00'),
    -- a correction with the same time, then an older message with that time, which arrives later
    (9, 2, 'Bob', timestamp'2025-10-01 00:00:00'),
    (8, 2, 'BOB', timestamp'2025-10-01 00:00:00')
as t (message_no, user_id, name, updated_at)
where message_no in ({{ var('messages') | join(', ') }})
"""
TYPE_2 = """
{{ config(
    materialized='incremental', primary_key=['user_id', 'valid_from'], rowkind_field='_row_kind', bucket=1,
    on_schema_change='append_new_columns'
) }}
{{ scd2(
    paimon_changes(ref('updates'), before=true), 'user_id', ['name'] + var('more', []), 'updated_at',
    order_by='message_no', row_kind='_row_kind'
) }}
"""
TYPE_1 = """
{{ config(materialized='incremental', primary_key='user_id', sequence_field=['updated_at', 'message_no'], bucket=1) }}
select user_id, name, updated_at, message_no from {{ paimon_changes(ref('updates')) }}
where _row_kind <> '-D'
"""
SNAPSHOT = """
snapshots:
  - name: users_snapshot
    relation: ref('type_1')
    config: {unique_key: user_id, strategy: timestamp, updated_at: updated_at}
"""
RUNS = [[1, 2, 6], [3, 9], [4, 5, 7, 8]]
VERSIONS = (
    "select user_id, name, date_format(valid_from, 'MM-dd'), date_format(valid_to, 'MM-dd'), is_current "
    "from {schema}.type_2 order by user_id, valid_from"
)
EXPECTED = [
    (1, "ann", "10-01", "10-03", False),
    (1, "Ann", "10-03", "10-05", False),
    (1, "ANN", "10-05", None, True),
    (2, "b", "09-01", "10-01", False),
    (2, "Bob", "10-01", None, True),
    (3, "c", "10-02", "10-09", False),
    (3, "cid", "10-09", None, True),
]


class TestDimensions:
    @pytest.fixture(scope="class")
    def models(self):
        return {"updates.sql": UPDATES, "type_2.sql": TYPE_2, "type_1.sql": TYPE_1}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshots.yml": SNAPSHOT}

    @pytest.fixture(scope="class")
    def built(self, project):
        known: list[int] = []
        for messages in RUNS:
            known += messages
            run_dbt(["build", "--vars", f"messages: {known}"])

    def test_type_2(self, built, rows):
        assert rows(VERSIONS) == EXPECTED

    def test_type_1(self, built, rows):
        assert rows("select user_id, name from {schema}.type_1 order by 1") == [
            (1, "ANN"),
            (2, "Bob"),
            (3, "cid"),
        ]

    def test_a_dbt_snapshot_has_the_versions_that_it_saw(self, built, rows):
        """Each run compares only current rows, so late versions are missing."""
        assert rows(
            "select user_id, name, date_format(dbt_valid_from, 'MM-dd'), date_format(dbt_valid_to, 'MM-dd') "
            "from {schema}.users_snapshot order by user_id, dbt_valid_from"
        ) == [
            (1, "ann", "10-01", "10-05"),
            (1, "ANN", "10-05", None),
            (2, "bob", "10-01", None),
            (3, "cid", "10-09", None),
        ]

    def test_the_full_refresh_is_the_same(self, built, rows):
        run_dbt(["run", "--full-refresh", "--vars", f"messages: {list(chain(*RUNS))}"])
        assert rows(VERSIONS) == EXPECTED

    def test_a_version_that_is_taken_back(self, built, rows):
        """Without message 4, the interval that the message split is whole again."""
        run_dbt(["run", "--vars", f"messages: {[n for n in chain(*RUNS) if n != 4]}"])
        assert rows(VERSIONS) == [(1, "ann", "10-01", "10-05", False), *EXPECTED[2:]]

    def test_a_column_that_the_table_gains(self, built, rows):
        """Existing versions have NULL there. Message 4 comes again."""
        run_dbt(["run", "--vars", f"{{messages: {list(chain(*RUNS))}, more: [updated_at]}}"])
        assert rows(VERSIONS) == EXPECTED
        gained = "select name, date_format(updated_at, 'MM-dd') from {schema}.type_2 where updated_at is not null"
        assert rows(gained) == [("Ann", "10-03")]
