"""dbt's own project fixtures for every test that runs dbt; the longest tests first."""

from __future__ import annotations

import pytest

pytest_plugins = ["conformance", "dbt.tests.fixtures.project"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A worker that starts the builds of the whole project last would finish long after the others."""
    items.sort(key=lambda item: "functional/project" not in item.path.as_posix())
