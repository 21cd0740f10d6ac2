"""`metastore: jdbc` on PostgreSQL."""

from __future__ import annotations

import pytest

from integration.catalogs.base import CatalogTests


class TestJdbcOnPostgresql(CatalogTests):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, postgresql, tmp_path_factory, spark_config):
        return {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "metastore": "jdbc",
            "uri": postgresql.uri,
            "warehouse": str(tmp_path_factory.mktemp("lake")),
            "catalog_options": {"jdbc.user": postgresql.user, "jdbc.password": postgresql.password},
            "threads": 2,
            "spark_config": spark_config,
        }
