"""dbt's own suite: snapshots."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.simple_snapshot import test_various_configs
from dbt.tests.adapter.simple_snapshot.new_record_check_mode import BaseSnapshotNewRecordCheckMode
from dbt.tests.adapter.simple_snapshot.new_record_dbt_valid_to_current import (
    BaseSnapshotNewRecordDbtValidToCurrent,
)
from dbt.tests.adapter.simple_snapshot.new_record_timestamp_mode import BaseSnapshotNewRecordTimestampMode
from dbt.tests.adapter.simple_snapshot.test_ephemeral_snapshot_hard_deletes import (
    BaseSnapshotEphemeralHardDeletes,
    BaseSnapshotNewColumnSpecificCheckCols,
    BaseSnapshotNewColumnTimestampStrategy,
    BaseSnapshotNewColumnWithDeletes,
)
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck
from dbt.tests.adapter.simple_snapshot.test_various_configs import (
    BaseSnapshotColumnNames,
    BaseSnapshotColumnNamesFromDbtProject,
    BaseSnapshotDbtValidToCurrent,
    BaseSnapshotInvalidColumnNames,
    BaseSnapshotMultiUniqueKey,
)
from tests.functional.adapter.postgres_sql import in_spark


class SparkSql:
    # Spark's casts and names of types, in the tables to read and to compare with.
    @pytest.fixture(scope="class")
    def project(self, project):
        run_sql = project.run_sql
        project.run_sql = lambda sql, fetch=None: run_sql(in_spark(sql), fetch)
        return project


class AddColumnInSpark(SparkSql):
    # Paimon's ALTER TABLE has no DEFAULT: the column's value is given to the rows there are by an UPDATE.
    @pytest.fixture(scope="class")
    def source_alter_sql(self):
        return (
            "alter table {database}.{schema}.src_customers add column dummy_column varchar(50);\n"
            "update {database}.{schema}.src_customers set dummy_column = 'dummy_value'"
        )


class TestSimpleSnapshot(BaseSimpleSnapshot):
    # Paimon from 1.2 refuses a DEFAULT of a column that is added, also the one that there is without it.
    def add_fact_column(self, column=None, definition=None):
        super().add_fact_column(column, definition.removesuffix(" default null"))


class TestSnapshotCheck(BaseSnapshotCheck):
    pass


class TestSnapshotNewRecordTimestampMode(SparkSql, BaseSnapshotNewRecordTimestampMode):
    pass


class TestSnapshotNewRecordCheckMode(SparkSql, BaseSnapshotNewRecordCheckMode):
    pass


class TestSnapshotNewRecordDbtValidToCurrent(SparkSql, BaseSnapshotNewRecordDbtValidToCurrent):
    pass


class TestSnapshotEphemeralHardDeletes(AddColumnInSpark, BaseSnapshotEphemeralHardDeletes):
    pass


class TestSnapshotNewColumnTimestampStrategy(AddColumnInSpark, BaseSnapshotNewColumnTimestampStrategy):
    pass


class TestSnapshotNewColumnSpecificCheckCols(AddColumnInSpark, BaseSnapshotNewColumnSpecificCheckCols):
    pass


class TestSnapshotNewColumnWithDeletes(AddColumnInSpark, BaseSnapshotNewColumnWithDeletes):
    pass


class TestSnapshotColumnNames(SparkSql, BaseSnapshotColumnNames):
    pass


class TestSnapshotColumnNamesFromDbtProject(SparkSql, BaseSnapshotColumnNamesFromDbtProject):
    pass


class TestSnapshotInvalidColumnNames(SparkSql, BaseSnapshotInvalidColumnNames):
    pass


class TestSnapshotDbtValidToCurrent(SparkSql, BaseSnapshotDbtValidToCurrent):
    # The base counts on PostgreSQL's order of insertion; rows of a primary-key table have none.
    @pytest.fixture(autouse=True)
    def _ordered_rows(self, monkeypatch):
        run = test_various_configs.run_sql_with_adapter
        monkeypatch.setattr(
            test_various_configs,
            "run_sql_with_adapter",
            lambda adapter, sql, fetch: run(adapter, f"{sql} order by id, test_valid_to", fetch),
        )


class TestSnapshotMultiUniqueKey(SparkSql, BaseSnapshotMultiUniqueKey):
    pass
