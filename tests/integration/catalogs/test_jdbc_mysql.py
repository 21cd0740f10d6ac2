"""`metastore: jdbc` on MySQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.catalogs.test_jdbc_mariadb import TestJdbcByMySqlsDriver as ByMySqlsDriver
from integration.services.mysql import MISSING, MySql, mysql, program

pytestmark = [pytest.mark.full, pytest.mark.skipif(not program(), reason=MISSING)]


@pytest.fixture(scope="module")
def server() -> Iterator[MySql]:
    with mysql() as service:
        yield service


class TestJdbcOnMySql(ByMySqlsDriver):
    """The same tests as on MariaDB with this driver."""
