"""`metastore: jdbc` on a SQLite file."""

from __future__ import annotations

import pytest

from integration.catalogs.base import CatalogTests


class TestJdbcOnSqlite(CatalogTests):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, tmp_path_factory, spark_config):
        folder = tmp_path_factory.mktemp("sqlite")
        return {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "metastore": "jdbc",
            "uri": f"jdbc:sqlite:{folder / 'catalog.db'}",
            "warehouse": str(folder / "lake"),
            "threads": 2,
            "spark_config": spark_config,
        }
