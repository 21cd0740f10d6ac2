"""Features that Spark and Paimon lack: each node that uses one fails, and its message has a remedy."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

FUNCTION = """
functions:
  - name: doubled
    arguments: [{name: price, data_type: double}]
    returns: {data_type: double}
  - name: summed
    config: {type: aggregate}
    arguments: [{name: price, data_type: double}]
    returns: {data_type: double}
"""


class TestUnsupported:
    @pytest.fixture(scope="class")
    def models(self):
        grants = "grants={'select': ['reader']}"
        return {
            "granted_table.sql": f"{{{{ config(materialized='table', {grants}) }}}} select 1 as id",
            "granted_view.sql": f"{{{{ config(materialized='view', {grants}) }}}} select 1 as id",
            "granted_increment.sql": f"{{{{ config(materialized='incremental', {grants}) }}}} select 1 as id",
            "dynamic.sql": "{{ config(materialized='dynamic_table', target_lag='1 hour') }} select 1 as id",
            "good.sql": "{{ config(materialized='table', grants={}) }} select 1 as id",
        }

    @pytest.fixture(scope="class")
    def functions(self):
        return {"doubled.sql": "price * 2", "summed.sql": "sum(price)", "functions.yml": FUNCTION}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "granted_seed.csv": "id\n1\n",
            "seeds.yml": "seeds: [{name: granted_seed, config: {grants: {select: [a]}}}]",
        }

    def test_each_node_says_so(self, project):
        results = run_dbt(["build"], expect_pass=False)
        messages = {result.node.name: result.message for result in results if result.status == "error"}
        assert [result.node.name for result in results if result.status == "success"] == ["good"]
        for name in ("granted_table", "granted_view", "granted_increment", "granted_seed"):
            assert f"'{name}': grants: Spark has no GRANT" in messages[name]
            assert "Remove `grants`" in messages[name]
        assert "'dynamic': dynamic_table: this is a Snowflake table" in messages["dynamic"]
        assert "function 'doubled': SQL functions (functions/) on Spark 4: a filesystem catalog" in messages["doubled"]
        assert "function 'summed': aggregate: Spark creates no aggregate functions" in messages["summed"]
        assert all("Write a macro" in messages[name] for name in ("doubled", "summed"))
        tables = [row[1] for row in project.run_sql(f"show tables in {project.test_schema}", fetch="all")]
        assert tables == ["good"]
