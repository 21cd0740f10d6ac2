"""`metastore: jdbc` on a SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from integration.catalogs.base import CatalogTests, sqlite_target


class TestJdbcOnSqlite(CatalogTests):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, tmp_path_factory, spark_config):
        return sqlite_target(tmp_path_factory.mktemp("sqlite"), spark_config)

    def test_another_program_can_write(self, project, dbt_profile_target):
        """To cache the rows of `kept_current`, Spark clones its session. The clone must not keep the file locked."""
        self.build(3)
        path = dbt_profile_target["uri"].removeprefix("jdbc:sqlite:")
        with closing(sqlite3.connect(path, timeout=1)) as database, database:
            database.execute("create table written_by_another_program (id int)")
