"""`metastore: jdbc` on a SQLite file."""

from __future__ import annotations

import pytest

from integration.catalogs.base import CatalogTests, sqlite_target


class TestJdbcOnSqlite(CatalogTests):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, tmp_path_factory, spark_config):
        return sqlite_target(tmp_path_factory.mktemp("sqlite"), spark_config)
