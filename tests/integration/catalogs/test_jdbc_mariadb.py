"""`metastore: jdbc` on MariaDB, with its own driver and with MySQL's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.catalogs.base import CatalogTests
from integration.services.mariadb import MariaDb, mariadb

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def server() -> Iterator[MariaDb]:
    with mariadb() as service:
        yield service


class TestJdbcOnMariaDb(CatalogTests):
    PROTOCOL = "mariadb"

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, server, tmp_path_factory, spark_config):
        return {
            "type": "paimon",
            "method": "session",
            "metastore": "jdbc",
            "uri": server.uri.replace("jdbc:mariadb:", f"jdbc:{self.PROTOCOL}:"),
            "warehouse": str(tmp_path_factory.mktemp("lake")),
            "catalog_options": {"jdbc.user": server.user, "jdbc.password": server.password},
            "threads": 2,
            "spark_config": spark_config,
        }


class TestJdbcByMySqlsDriver(TestJdbcOnMariaDb):
    PROTOCOL = "mysql"
