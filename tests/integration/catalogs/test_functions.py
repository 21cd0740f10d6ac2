"""SQL functions of a project (functions/), which a REST catalog keeps."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.functions.test_udfs import (
    DeterministicUDF,
    NonDeterministicUDF,
    StableUDF,
    UDFsBasic,
)
from dbt.tests.util import run_dbt, write_file

from dbt.adapters.paimon.capabilities import Capability

pytestmark = pytest.mark.needs(Capability.SQL_FUNCTIONS, catalog="rest")

PRICES = """select id, {{ function('with_tax') }}(price) as price, {{ function('with_tax') }}(price, 0.5) as more
from {{ ref('rows') }}"""
PROPERTIES = """
functions:
  - name: with_tax
    description: It's a price
    arguments:
      - {name: price, data_type: "decimal(8, 2)", description: without tax}
      - {name: rate, data_type: "decimal(4, 2)", default_value: 0.2}
    returns: {data_type: "decimal(8, 2)"}
"""
UNIT_TEST = """
unit_tests:
  - name: prices_have_tax
    model: prices
    given: [{input: ref('rows'), rows: [{id: 1, price: 10}]}]
    expect: {rows: [{id: 1, price: 12, more: 15}]}
"""
MODELS = {
    "rows.sql": "{{ config(materialized='table', skip_unchanged=true) }} select 1 as id, 10 as price",
    "prices.sql": "{{ config(materialized='table') }} " + PRICES,
    "built.sql": "{{ config(materialized='table', skip_unchanged=true) }} " + PRICES,
    "seen.sql": "{{ config(materialized='view') }} select * from {{ ref('prices') }}",
    "kept_current.sql": """{{ config(materialized='materialized_view') }}
select id, {{ function('with_tax') }}(price) as price from {{ ref('rows') }}""",
    "tests.yml": UNIT_TEST,
}


class OnRest:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, rest, spark_config):
        return {
            "type": "paimon",
            "method": "session",
            "metastore": "rest",
            "uri": rest.uri,
            "warehouse": rest.warehouse,
            "catalog_options": {"token.provider": "bear", "token": rest.token},
            "threads": 2,
            "spark_config": spark_config,
        }

    def is_function_create_event(self, event):
        return event.data.node_info.node_name == "price_for_xlarge" and "create or replace function" in event.data.sql


class TestSqlFunctions(OnRest):
    """Each test continues from the state that the previous one left."""

    @pytest.fixture(scope="class")
    def functions(self):
        return {"with_tax.sql": "price * (1 + rate) -- with tax", "with_tax.yml": PROPERTIES}

    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def expected(self, project):
        def check(price: int, more: int) -> None:
            rows = {
                name: [tuple(map(int, row)) for row in project.run_sql(f"select * from {{schema}}.{name}", fetch="all")]
                for name in ("prices", "built", "seen", "kept_current")
            }
            whole = [(1, price, more)]
            assert rows == {"prices": whole, "built": whole, "seen": whole, "kept_current": [(1, price)]}

        return check

    def test_models_call_a_function(self, project, expected):
        run_dbt(["build"])
        expected(12, 15)

    def test_a_changed_function_changes_every_table(self, project, expected):
        write_file("price * (1 + rate) * 2", project.project_root, "functions", "with_tax.sql")
        run_dbt(["build", "--exclude-resource-type", "unit_test"])
        expected(24, 30)

    def test_a_wrong_function_leaves_the_old_one(self, project, expected):
        write_file("cost * 2", project.project_root, "functions", "with_tax.sql")
        results = run_dbt(["build", "--select", "with_tax"], expect_pass=False)
        assert "cost" in results[0].message
        run_dbt(["run"])
        expected(24, 30)

    def test_docs(self, project):
        write_file("price", project.project_root, "functions", "with_tax.sql")
        run_dbt(["docs", "generate"])


class TestUDFsBasic(OnRest, UDFsBasic):
    pass


class TestDeterministicUDF(OnRest, DeterministicUDF):
    def check_function_volatility(self, sql):
        assert " deterministic" in sql


class TestNonDeterministicUDF(OnRest, NonDeterministicUDF):
    def check_function_volatility(self, sql):
        assert "not deterministic" in sql


class TestStableUDF(OnRest, StableUDF):
    def check_function_volatility(self, sql):
        assert "deterministic" not in sql
