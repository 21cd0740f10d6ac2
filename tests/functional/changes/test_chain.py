"""A chain of models that read changes equals its full refresh, even if runs fail or die in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.changes.api import Changes
from dbt.adapters.paimon.relation import PaimonRelation

# UPSERTED upserts changes, APPLIED orders them by run, and SUMMED is wrong if it reads a row twice or never.
UPSERTED = """
{{ config(materialized='incremental', primary_key='id', rowkind_field='_row_kind', bucket=1) }}
select id, customer, amount, _row_kind from {{ paimon_changes(source('raw', 'orders')) }}
"""
APPLIED = """
{{ config(
    materialized='incremental', incremental_strategy='apply_changes',
    primary_key='id', rowkind_field='_row_kind', sequence_field='read_to', bucket=1
) }}
select id, customer, amount, _row_kind, read_to
from {{ paimon_changes(ref('upserted'), snapshot_column='read_to') }}
{% if var('fails', '') == 'applied' %}where assert_true(false, 'fails') is null{% endif %}
"""
SUMMED = """
{{ config(
    materialized='incremental', primary_key='customer', merge_engine='aggregation', bucket=1,
    fields={'amount': {'aggregate_function': 'sum'}, 'orders': {'aggregate_function': 'sum'}}
) }}
select
    customer,
    sum(if(_row_kind in ('-U', '-D'), -amount, amount)) as amount,
    sum(if(_row_kind in ('-U', '-D'), -1, 1)) as orders
from {{ paimon_changes(ref('applied'), before=true) }}
group by customer
"""
TRUTH = "select customer, sum(amount), count(*) from {schema}.orders group by customer order by 1"
SUMS = "select customer, amount, orders from {schema}.summed where orders <> 0 order by 1"
COMMITS = "select count(*) from {schema}.`summed$snapshots`"


class TestChain:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: orders}]}]",
            "upserted.sql": UPSERTED,
            "applied.sql": APPLIED,
            "summed.sql": SUMMED,
        }

    @pytest.fixture(scope="class")
    def built(self, project, rows):
        rows(
            "create table {schema}.orders (id int, customer string, amount bigint) "
            "tblproperties ('primary-key' = 'id', 'bucket' = '1')"
        )
        rows("insert into {schema}.orders values (1, 'ann', 4), (2, 'bob', 6), (3, 'cid', 30)")
        run_dbt(["run"])

    @pytest.fixture
    def run_that_dies(self, monkeypatch):
        """Function: run all models; the given one dies after its commit, before it writes its position."""
        keep = Changes.keep

        def run(dies: str):
            def planted(changes: Changes, model: Mapping[str, Any], kept: PaimonRelation, *, rebuilt: bool) -> None:
                if model["name"] == dies:
                    raise DbtRuntimeError("died")
                keep(changes, model, kept, rebuilt=rebuilt)

            with monkeypatch.context() as patched:
                patched.setattr(Changes, "keep", planted)
                return run_dbt(["run"], expect_pass=False)

        return run

    def test_a_value_adds_what_it_has_grown_by(self, built, rows):
        """The new value 5 adds 1 if the old value was 4, and subtracts 1 if it was 6."""
        rows("insert into {schema}.orders values (1, 'ann', 5), (2, 'bob', 5)")
        run_dbt(["run"])
        assert rows(SUMS) == rows(TRUTH) == [("ann", 5, 1), ("bob", 5, 1), ("cid", 30, 1)]

    def test_runs_that_fail_and_runs_that_die(self, built, rows, run_that_dies):
        rows("insert into {schema}.orders values (1, 'bob', 11), (4, 'dan', 40), (5, 'ann', 50)")
        results = run_dbt(["run", "--vars", "fails: applied"], expect_pass=False)
        assert [result.status for result in results] == ["success", "error", "skipped"]
        rows("delete from {schema}.orders where id = 2")
        results = run_that_dies("summed")
        assert [result.status for result in results] == ["success", "success", "error"]
        assert rows(SUMS) == rows(TRUTH)  # The run died after it had committed the sums.
        commits = rows(COMMITS)
        run_dbt(["run", "--select", "summed"])
        assert rows(SUMS) == rows(TRUTH)  # The sums are not added again.
        assert rows(COMMITS) == commits

    def test_a_first_model_that_dies(self, built, rows, run_that_dies):
        rows("insert into {schema}.orders values (5, 'ann', 51)")
        run_that_dies("upserted")
        run_dbt(["run"])
        assert rows(SUMS) == rows(TRUTH)

    def test_the_full_refresh_is_the_same(self, built, rows):
        before = rows(SUMS)
        run_dbt(["run", "--full-refresh"])
        assert rows(SUMS) == before == rows(TRUTH)
        # The next run continues from there.
        rows("insert into {schema}.orders values (6, 'eve', 60)")
        run_dbt(["run"])
        assert rows(SUMS) == rows(TRUTH)

    def test_a_rollback_of_the_models_own_table(self, built, rows):
        """Positions of commits that were rolled back do not count."""
        ((before,),) = rows("select max(snapshot_id) from {schema}.`summed$snapshots`")
        rows("insert into {schema}.orders values (7, 'fay', 70)")
        run_dbt(["run"])
        run_dbt(["run-operation", "rollback_to", "--args", f"{{relation: summed, version: '{before}'}}"])
        assert rows(SUMS) != rows(TRUTH)
        run_dbt(["run", "--select", "summed"])
        assert rows(SUMS) == rows(TRUTH)
