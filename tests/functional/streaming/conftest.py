"""What tests of streams from Paimon tables share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="class")
def write(project: Any, rows: Callable[[str], Any]) -> Callable[..., None]:
    """Run statements on a source; `{t}` is the source, `{name}` its name as procedures take it."""

    def run_all(source: str, *statements: str) -> None:
        for statement in statements:
            name = f"{project.test_schema}.{source}"
            rows(statement.format(t=f"paimon.{name}", name=name))

    return run_all
