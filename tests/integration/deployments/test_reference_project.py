"""The whole reference project on every deployment: each builds the same tables, row for row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integration.build import THEIR_SCHEMA
from integration.deployments.conftest import DEPLOYMENTS, STREAMED, Start

pytestmark = pytest.mark.full


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
    record_property("deployment", (*DEPLOYMENTS[start], found["passed"] + found["examples"]))
    assert reference["tests"] > 60
    assert found["passed"] == reference["passed"] - (0 if deployment.tested else reference["tests"]) > 30
    expected = reference["tables"]
    assert len(expected) > 70
    if not deployment.has_examples:
        expected = {name: rows for name, rows in expected.items() if f"{THEIR_SCHEMA}." not in name}
    elif deployment.target in ("connect", "thrift"):
        expected = {name: rows for name, rows in expected.items() if not name.endswith(STREAMED)}
    assert found["tables"] == expected
    # No exact number: tests of the streams' tables run only where the streams do.
    assert found["examples"] > 100 or not deployment.has_examples
