"""`metastore: hive`: a metastore over thrift."""

from __future__ import annotations

import pytest

from integration.catalogs.base import CatalogTests


class TestHive(CatalogTests):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, hive, spark_config):
        return {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "metastore": "hive",
            "uri": hive.uri,
            "warehouse": str(hive.warehouse),
            "threads": 2,
            "spark_config": spark_config,
        }
