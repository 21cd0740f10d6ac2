"""Names of schemas and views are refused before Spark or Paimon stumble over them."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.names import schema_problem, view_problem


@pytest.mark.parametrize("schema", ["analytics", "Analytics_2", "a-b", "a b", "ünï", "a$b", ""])
def test_schemas_that_can_be(schema: str) -> None:
    assert schema_problem(schema) == ""


@pytest.mark.parametrize("schema", ["it's", 'a"b', "a`b", "a.b", "a/b", "a\\b", "a:b", "a\nb"])
def test_schemas_that_cannot_be(schema: str) -> None:
    problem = schema_problem(schema)
    assert problem.startswith(f"schema {schema!r}: ")
    assert "generate_schema_name" in problem


def test_the_session_catalog_takes_fewer_names() -> None:
    assert view_problem("spark_catalog", "s_1", "v") == ""
    assert "'a-b'" in view_problem("spark_catalog", "a-b", "v")
    assert "'v.1'" in view_problem("spark_catalog", "s", "v.1")
    assert view_problem("paimon", "a-b", "v.1") == ""
