"""Queries whose text holds braces: `rows` of the other folders formats its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dbt.tests.util import get_connection

Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def ask(project: Any) -> Ask:
    """Run a query on the test's own session as it is, and give its rows as tuples."""

    def run(sql: str) -> list[tuple[Any, ...]]:
        with get_connection(project.adapter):
            return [tuple(row) for row in project.adapter.query(sql)]

    return run
