"""MERGE cannot write char columns, nor varchar before Paimon 1.3: a model that needs it is refused before any DDL."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities import Capability

QUERY = "select cast({{ var('run', 1) }} as int) as id, 'ab' as name, 'c{{ var('run', 1) }}' as code"
CONFIG = "materialized='incremental', on_schema_change='fail', primary_key='id', bucket=1"
MODELS = {
    "upserted": f"{{{{ config({CONFIG}) }}}} {QUERY}",
    "merged": f"{{{{ config({CONFIG}, incremental_strategy='merge') }}}} {QUERY}",
    "replaced": f"{{{{ config({CONFIG}, incremental_strategy='delete+insert') }}}} {QUERY}",
    # Its columns are strings: in a query, a varchar has no length.
    "copied": f"{{{{ config({CONFIG}, incremental_strategy='merge') }}}} select id, name from {{{{ ref('upserted') }}}}",
}
COLUMNS = [
    {"name": "id", "data_type": "int"},
    {"name": "name", "data_type": "varchar(5)"},
    {"name": "code", "data_type": "char(3)"},
]
CONTRACT = {"config": {"contract": {"enforced": True}}, "columns": COLUMNS}
SNAPSHOT = """
{% snapshot versions %}{{ config(unique_key='id', strategy='check', check_cols='all') }}
select id, name from {{ ref('upserted') }}
{% endsnapshot %}
"""
REFUSED = {"merged", "replaced"}


class TestSizedText:
    @pytest.fixture(scope="class")
    def models(self):
        contracted = [{"name": name, **CONTRACT} for name in ("upserted", "merged", "replaced")]
        return {f"{name}.sql": sql for name, sql in MODELS.items()} | {
            "models.yml": str({"version": 2, "models": contracted}).replace("True", "true")
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    def test_runs(self, project, rows):
        for run in (1, 2):
            results = run_dbt(["build", "--vars", f"run: {run}"], expect_pass=False)
            failed = {result.node.name: result.message for result in results if result.status == "error"}
            assert set(failed) == REFUSED
            for message in failed.values():
                assert "char" in message and "cast(… as string)" in message, message
        assert {row[1] for row in rows("show tables in {schema}")} == {"upserted", "copied", "versions"}
        expected = [(1, "ab", "c1 "), (2, "ab", "c2 ")]
        assert sorted(rows("select * from {schema}.upserted")) == expected
        assert sorted(rows("select * from {schema}.copied")) == [(1, "ab"), (2, "ab")]
        assert sorted(rows("select id, name from {schema}.versions")) == [(1, "ab"), (2, "ab")]


@pytest.mark.needs(Capability.MERGE_ON_VARCHAR)
class TestVarchar:
    @pytest.fixture(scope="class")
    def models(self):
        query = "select cast({{ var('run', 1) }} as int) as id, 'v{{ var('run', 1) }}' as name union all select 9, 'n{{ var('run', 1) }}'"
        contract = CONTRACT | {"columns": COLUMNS[:2]}
        names = {"merged": "merge", "replaced": "delete+insert"}
        return {
            **{f"{n}.sql": f"{{{{ config({CONFIG}, incremental_strategy='{s}') }}}} {query}" for n, s in names.items()},
            "models.yml": str({"models": [{"name": name, **contract} for name in names]}).replace("True", "true"),
        }

    def test_runs(self, project, rows):
        for run in (1, 2):
            run_dbt(["run", "--vars", f"run: {run}"])
        for name in ("merged", "replaced"):
            assert sorted(rows(f"select * from {{schema}}.{name}")) == [(1, "v1"), (2, "v2"), (9, "n2")]
            assert ("name", "varchar(5)", None) in rows(f"describe {{schema}}.{name}")
