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
    # Spark's casts and type names, in the source tables and in the expected tables.
    @pytest.fixture(scope="class")
    def project(self, project):
        run_sql = project.run_sql
        project.run_sql = lambda sql, fetch=None: run_sql(in_spark(sql), fetch)
        return project


class AddColumnInSpark(SparkSql):
    # Paimon's ALTER TABLE has no DEFAULT, so an UPDATE sets the column's value in existing rows.
    @pytest.fixture(scope="class")
    def source_alter_sql(self):
        return (
            "alter table {database}.{schema}.src_customers add column dummy_column varchar(50);\n"
            "update {database}.{schema}.src_customers set dummy_column = 'dummy_value'"
        )


class TestSimpleSnapshot(BaseSimpleSnapshot):
    # From 1.2, Paimon refuses a DEFAULT for an added column, even DEFAULT NULL.
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
    # The base relies on PostgreSQL's insertion order, which a primary-key table does not have.
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
