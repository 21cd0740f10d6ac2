"""A wrong config fails its node before any SQL; the other nodes run."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities import Capability

REFUSED = {
    "unknown_option": (
        "primary_key='id', tblproperties={'num-sorted-runs.stop-trigger': 5}",
        "num-sorted-run.stop-trigger",
    ),
    "bucket_key_dynamic": ("bucket=-1, bucket_key='id'", "bucket"),
    "wrong_type": ("primary_key='id', tblproperties={'snapshot.num-retained.max': 'many'}", "many"),
    "engine_without_key": ("merge_engine='aggregation'", "primary_key"),
    "no_such_bucket": ("primary_key='id', bucket=-3", "bucket"),
    "merge_on_totals": (
        "materialized='incremental', incremental_strategy='merge', primary_key='id', merge_engine='aggregation'",
        "upsert",
    ),
    "append_on_key": (
        "materialized='incremental', incremental_strategy='append', primary_key='id'",
        "upsert",
    ),
}


class TestRefused:
    @pytest.fixture(scope="class")
    def models(self):
        refused = {
            f"{name}.sql": f"{{{{ config({config}) }}}} select 1 as id, 2 as n" for name, (config, _) in REFUSED.items()
        }
        return refused | {"good.sql": "{{ config(primary_key='id') }} select 1 as id"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+materialized": "table"}}

    def test_refused(self, project, rows):
        results = run_dbt(["run"], expect_pass=False)
        messages = {result.node.name: result.message for result in results if result.status == "error"}
        assert set(messages) == set(REFUSED)
        for name, (_, said) in REFUSED.items():
            assert name in messages[name] and said in messages[name], messages[name]
        assert {row[1] for row in rows("show tables in {schema}")} == {"good"}


@pytest.mark.lacks(Capability.POSTPONE_BUCKET)
class TestTooNew:
    @pytest.fixture(scope="class")
    def models(self):
        return {"postponed.sql": "{{ config(materialized='table', primary_key='id', bucket=-2) }} select 1 as id"}

    def test_refused_with_the_version_it_needs(self, project, rows):
        (result,) = run_dbt(["run"], expect_pass=False)
        assert "1.1" in result.message
        assert rows("show tables in {schema}") == []
