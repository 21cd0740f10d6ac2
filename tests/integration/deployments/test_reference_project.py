"""The whole reference project on every deployment: each gives the same tables, row for row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integration.deployments.conftest import DEPLOYMENTS, Start


@pytest.mark.parametrize("start", [pytest.param(start, id=start.__name__) for start in DEPLOYMENTS])
def test_build(
    start: Start,
    tmp_path: Path,
    reference: dict[str, Any],
    request: pytest.FixtureRequest,
    record_property: Any,
) -> None:
    with start(tmp_path, request) as deployment:
        found = reference if deployment.target == "local" else deployment.build(tmp_path)
    assert found["exception"] == ""
    assert found["failed"] == []
    record_property("deployment", (*DEPLOYMENTS[start], found["passed"]))
    assert found["passed"] == reference["passed"] > 100
    assert found["tables"] == reference["tables"]
    assert len(found["tables"]) > 15
