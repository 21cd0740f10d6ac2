"""`dbt-paimon env` on each storage."""

from __future__ import annotations

import pytest

from integration.environment_tests import EnvironmentTests

pytestmark = pytest.mark.full


class TestStorage(EnvironmentTests):
    """The folder's fixtures have the targets."""
