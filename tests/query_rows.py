"""pytest plugin: the fixture `rows`, with which a test reads the tables that dbt built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dbt.tests.util import get_connection

Rows = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="class")
def rows(project: Any) -> Rows:
    """Function: run a query on the test's engine and return tuples; `{schema}` is the test's schema."""

    def run(sql: str) -> list[tuple[Any, ...]]:
        with get_connection(project.adapter):
            return [tuple(row) for row in project.adapter.query(sql.format(schema=f"paimon.{project.test_schema}"))]

    return run
