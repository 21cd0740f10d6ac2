"""`dbt-paimon env` in catalogs of each kind. A JDBC catalog has no branches: incremental models are copied."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.paimon.capabilities import Capability
from integration.catalogs import test_hive, test_rest
from integration.catalogs.base import sqlite_target
from integration.environment_tests import EnvironmentTests


class TestJdbc(EnvironmentTests):
    copies = True

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, tmp_path_factory: Any, spark_config: dict[str, Any]) -> dict[str, Any]:
        return sqlite_target(tmp_path_factory.mktemp("sqlite"), spark_config)


class TestHive(EnvironmentTests):
    dbt_profile_target = test_hive.TestHive.dbt_profile_target


@pytest.mark.needs(Capability.REST_CATALOG)
class TestRest(EnvironmentTests):
    dbt_profile_target = test_rest.TestRest.dbt_profile_target
