"""dbt's own suite: ephemeral models."""

from __future__ import annotations

import re
from pathlib import Path

from dbt.tests.adapter.ephemeral.test_ephemeral import (
    BaseEphemeralErrorHandling,
    BaseEphemeralMulti,
    BaseEphemeralNested,
)
from dbt.tests.util import check_relations_equal, run_dbt


def assert_ran(model, schema, expected_sql):
    """Check the SQL that created a view as the base does: without digits and white space."""
    path = Path("target/run/test/models", f"{model}.sql")
    assert path.exists()
    without_space = "".join(re.sub(r"\d+", "", path.read_text()).split())
    view = f"create or replace view `spark_catalog`.`{schema}`.`{model}` as "
    assert without_space == "".join((re.sub(r"\d+", "", view) + expected_sql).split())


# The base expects PostgreSQL's CREATE VIEW; here views are created with CREATE OR REPLACE.
class TestEphemeralMulti(BaseEphemeralMulti):
    def test_ephemeral_multi(self, project):
        run_dbt(["seed"])
        results = run_dbt(["run"])
        assert len(results) == 3

        check_relations_equal(project.adapter, ["seed", "dependent"])
        check_relations_equal(project.adapter, ["seed", "double_dependent"])
        check_relations_equal(project.adapter, ["seed", "super_dependent"])
        schema = re.sub(r"\d+", "", project.test_schema)
        assert_ran(
            "double_dependent",
            project.test_schema,
            f"""
            with __dbt__cte__base as (
            select * from {schema}.seed
            ),  __dbt__cte__base_copy as (
            select * from __dbt__cte__base
            )-- base_copy just pulls from base. Make sure the listed
            -- graph of CTEs all share the same dbt_cte__base cte
            select * from __dbt__cte__base where gender = 'Male'
            union all
            select * from __dbt__cte__base_copy where gender = 'Female'
            """,
        )


# Here, too, the base expects PostgreSQL's CREATE VIEW.
class TestEphemeralNested(BaseEphemeralNested):
    def test_ephemeral_nested(self, project):
        results = run_dbt(["run"])
        assert len(results) == 2
        schema = re.sub(r"\d+", "", project.test_schema)
        assert_ran(
            "root_view",
            project.test_schema,
            f"""
            with __dbt__cte__ephemeral_level_two as (
            select * from `paimon`.`{schema}`.`source_table`
            ),  __dbt__cte__ephemeral as (
            select * from __dbt__cte__ephemeral_level_two
            )select * from __dbt__cte__ephemeral
            """,
        )


class TestEphemeralErrorHandling(BaseEphemeralErrorHandling):
    pass
