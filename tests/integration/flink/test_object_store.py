"""Flink and dbt on one warehouse in S3, one after the other, because they share no lock there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.flink import Session
from integration.services.s3 import S3

pytestmark = pytest.mark.full
Rows = Callable[[str], list[tuple[Any, ...]]]

MODELS = {
    "of_both.sql": """
{{ config(materialized='incremental', primary_key='id', bucket=2) }}
select id, {{ var('step', 1) }} as v from range({{ var('step', 1) }}, 10)
""",
    "changes.sql": """
{{ config(materialized='incremental', primary_key='id', bucket=1, rowkind_field='_row_kind') }}
select id, v, _row_kind from {{ paimon_changes(ref('of_both')) }}
""",
}


class TestS3:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    @pytest.fixture(scope="class")
    def options(self, object_store: S3) -> dict[str, str]:
        """The catalog options of both Flink and the profile."""
        return {"warehouse": f"s3://{object_store.bucket}/beside-flink", **object_store.catalog_options()}

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any], options: dict[str, str]) -> dict[str, Any]:
        catalog = {key: value for key, value in options.items() if key != "warehouse"}
        return dbt_profile_target | {"warehouse": options["warehouse"], "catalog_options": catalog}

    def test_one_after_the_other(self, project: Any, flink: Session, rows: Rows, options: dict[str, str]) -> None:
        given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        flink.define(f"create catalog store with ('type' = 'paimon', {given})")
        table = f"store.`{project.test_schema}`.of_both"
        run_dbt(["run"])
        first = [(key, 1) for key in range(1, 10)]
        assert flink.rows(f"select id, v from {table} order by id") == first
        with flink.writing(f"insert into {table} values (cast(2 as bigint), 20), (cast(30 as bigint), 30)") as job:
            job.wait()
        run_dbt(["run", "--select", "changes"])
        both = sorted({**dict(first), 2: 20, 30: 30}.items())
        for model in ("of_both", "changes"):
            assert sorted(rows(f"select id, v from {{schema}}.{model}")) == both, model
        flink.run(f"call store.sys.compact(`table` => '{project.test_schema}.of_both')")
        assert rows("select distinct level from {schema}.`of_both$files`") == [(5,)]
        run_dbt(["run", "--vars", "step: 5"])
        both = sorted({**dict(both), **dict.fromkeys(range(5, 10), 5)}.items())
        assert flink.rows(f"select id, v from {table} order by id") == both
        assert sorted(rows("select id, v from {schema}.changes")) == both
