"""Python models: every kind of frame, keys and options kept, increments by strategy, and clear errors."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

HEAD = "def model(dbt, session):\n    dbt.config(materialized='MATERIALIZED', primary_key='id', bucket=2)\n"
MODELS = {
    "spark_frame": HEAD + "    return dbt.ref('seen').selectExpr('id', 'id * 10 as n')",
    "pandas_frame": HEAD + "    return dbt.ref('base').toPandas().assign(n=lambda frame: frame.id * 10)",
    "pandas_on_spark": HEAD
    + "    frame = dbt.ref('base').pandas_api()\n    frame['n'] = frame['id'] * 10\n    return frame",
    "increments": HEAD.replace("MATERIALIZED", "incremental")
    + "    first = 3 if dbt.is_incremental else 1\n    return session.range(first, 4).selectExpr('id', 'id * 10 as n')",
    "returns_none": HEAD + "    return None",
    "raises": HEAD + "    return 1 / 0",
}


class TestPythonModels:
    @pytest.fixture(scope="class")
    def models(self):
        python = {f"{name}.py": code.replace("MATERIALIZED", "table") for name, code in MODELS.items()}
        return python | {
            "base.sql": "{{ config(materialized='table') }} select 1 as id union all select 2",
            "seen.sql": "{{ config(materialized='view') }} select * from {{ ref('base') }}",
        }

    def test_models(self, project, rows):
        results = {r.node.name: r for r in run_dbt(["run"], expect_pass=False)}
        assert {name for name, result in results.items() if result.status == "error"} == {
            "returns_none",
            "raises",
        }
        assert "NoneType" in results["returns_none"].message
        assert "ZeroDivisionError" in results["raises"].message
        assert "models/raises.py:3:12" in results["raises"].message
        for name in ("spark_frame", "pandas_frame", "pandas_on_spark"):
            assert sorted(rows(f"select id, n from {{schema}}.{name}")) == [(1, 10), (2, 20)], name
            options = dict(rows(f"select key, value from {{schema}}.`{name}$options`"))
            assert options["bucket"] == "2", name
        run_dbt(["run", "--select", "increments"])
        assert sorted(rows("select id, n from {schema}.increments")) == [(1, 10), (2, 20), (3, 30)]
        assert len(rows("select * from {schema}.`increments$snapshots`")) == 2
