"""The worked examples pass their data tests, which check figures from Paimon's docs, in the first and later builds."""

from __future__ import annotations

from dataclasses import replace

import pytest


@pytest.fixture(scope="module")
def lakehouse(new_lakehouse):
    lakehouse = new_lakehouse("examples")
    return replace(lakehouse, project=lakehouse.project / "examples")


@pytest.mark.parametrize("build", ["first", "second", pytest.param("second again", marks=pytest.mark.full)])
def test_build(lakehouse, build):
    results = lakehouse.dbt("build", "--vars", f"batch: {1 if build == 'first' else 2}")
    kinds = {result.node.resource_type.value for result in results}
    assert kinds >= {"model", "seed", "test"}
    assert len(results) > 90
