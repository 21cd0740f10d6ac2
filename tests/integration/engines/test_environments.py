"""`dbt-paimon env` on a Thrift server and on a Connect server."""

from __future__ import annotations

import pytest

from integration.engines import test_methods
from integration.environment_tests import EnvironmentTests

pytestmark = pytest.mark.full


class TestThrift(EnvironmentTests):
    dbt_profile_target = test_methods.TestThrift.dbt_profile_target


class TestConnect(EnvironmentTests):
    dbt_profile_target = test_methods.TestConnect.dbt_profile_target
