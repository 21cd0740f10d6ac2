"""Schemas and views with invalid names fail their own nodes; the other nodes run."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

# Schemas as users write them; dbt's macro puts the target's schema in front.
BAD = {"quote": "it's", "dot": "a.b", "slash": "a/b", "backtick": "a`b"}
KINDS = {
    "table": "materialized='table'",
    "view": "materialized='view'",
    "incremental": "materialized='incremental', primary_key='id'",
}


class TestSchemas:
    @pytest.fixture(scope="class")
    def models(self):
        refused = {
            f"{kind}_{name}.sql": f'{{{{ config({config}, schema="{schema}") }}}} select 1 as id'
            for name, schema in BAD.items()
            for kind, config in KINDS.items()
        }
        other = {
            "good.sql": "{{ config(materialized='table') }} select 1 as id",
            "dashed.sql": "{{ config(materialized='table', schema='da-shed') }} select 1 as id",
            "dashed_view.sql": "{{ config(materialized='view', schema='da-shed') }} select 1 as id",
            "dotted.sql": "{{ config(materialized='view', alias='v.1') }} select 1 as id",
        }
        return refused | other

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"seed_dot.csv": "id\n1\n", "seed_good.csv": "id\n1\n"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"test": {"seed_dot": {"+schema": "a.b"}}}}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "snapshot_quote.sql": "{% snapshot snapshot_quote %}{{ config(unique_key='id', strategy='check', "
            "check_cols='all', schema=\"it's\") }} select 1 as id{% endsnapshot %}"
        }

    def test_each_node_says_so(self, project, rows):
        results = run_dbt(["build"], expect_pass=False)
        messages = {result.node.name: result.message for result in results if result.status == "error"}
        passed = {result.node.name for result in results if result.status == "success"}
        assert passed == {"good", "dashed", "seed_good"}
        expected = {f"{kind}_{name}": schema for name, schema in BAD.items() for kind in KINDS}
        expected |= {"seed_dot": "a.b", "snapshot_quote": "it's"}
        assert set(messages) == {*expected, "dashed_view", "dotted"}
        for node, schema in expected.items():
            assert f"'{node}'" in messages[node] or node in messages[node]
            assert repr(f"{project.test_schema}_{schema}") in messages[node], messages[node]
            assert "cannot be part of a schema's name" in messages[node]
        assert "'v.1'" in messages["dotted"]
        assert "da-shed" in messages["dashed_view"] and "letters, digits and _" in messages["dashed_view"]

        assert {row[1] for row in rows("show tables in {schema}")} == {"good", "seed_good"}
        home = project.test_schema
        schemas = {row[0].strip("`") for row in rows("show databases in paimon") if row[0].strip("`").startswith(home)}
        assert schemas == {home, f"{home}_da-shed"}
        assert rows("select * from `paimon`.`" + home + "_da-shed`.dashed") == [(1,)]
