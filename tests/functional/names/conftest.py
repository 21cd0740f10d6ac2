"""A fixture for queries with braces, which the fixture `rows` would read as placeholders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dbt.tests.util import get_connection

Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def ask(project: Any) -> Ask:
    """Function: run a query unchanged, in the test's session; returns the rows as tuples."""

    def run(sql: str) -> list[tuple[Any, ...]]:
        with get_connection(project.adapter):
            return [tuple(row) for row in project.adapter.query(sql)]

    return run
