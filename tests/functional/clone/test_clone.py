"""`dbt clone` creates an independent table with the original's schema, options and rows."""

from __future__ import annotations

import json
import shutil
from copy import deepcopy

import pytest
from dbt.tests.util import run_dbt

ORDERS = """
{{ config(
    materialized='incremental', primary_key=['day', 'id'], partition_by='day', bucket=2, merge_engine='aggregation',
    fields={'amount': {'aggregate_function': 'sum'}}, contract={'enforced': false}
) }}
select cast(id as int) as id, '2026-01-0' || id as day, cast(10 as decimal(10, 2)) as amount
from range(1, {{ var('until', 4) }}) as numbers (id)
"""
# First a delete, which the compaction drops, then an older change of the same key.
CHANGED = """
{{ config(
    materialized='incremental', incremental_strategy='apply_changes', primary_key='id', bucket=1,
    rowkind_field='op', sequence_field='seq', post_hook='{{ compact(this) }}'
) }}
select * from values
{% if var('until', 4) == 4 %} (1, '-D', 10), (2, '+I', 10) {% else %} (1, '+U', 5), (2, '+U', 5) {% endif %}
as t(id, op, seq)
"""
YML = """
models:
  - name: orders
    description: 'What was ordered; it''s "all"'
    config: {persist_docs: {relation: true, columns: true}}
    columns: [{name: amount, description: 'Euro'}]
"""


class TwoSchemas:
    """A project that is built in one schema and cloned into another."""

    @pytest.fixture(scope="class")
    def other_schema(self, unique_schema):
        return unique_schema + "_other"

    @pytest.fixture(scope="class")
    def profiles_config_update(self, dbt_profile_target, unique_schema, other_schema):
        here, there = deepcopy(dbt_profile_target), deepcopy(dbt_profile_target)
        here["schema"], there["schema"] = unique_schema, other_schema
        return {"test": {"outputs": {"default": here, "other": there}, "target": "default"}}

    @pytest.fixture(scope="class", autouse=True)
    def _production(self, project, other_schema):
        run_dbt(["run"])
        shutil.copytree(f"{project.project_root}/target", f"{project.project_root}/state")
        yield
        with project.adapter.connection_named("__test"):
            project.adapter.drop_schema(project.adapter.Relation.create(project.database, other_schema))

    def clone(self, *flags: str):
        return run_dbt(["clone", "--state", "state", "--target", "other", *flags])


class TestClone(TwoSchemas):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": ORDERS,
            "changed.sql": CHANGED,
            "seen.sql": "select * from {{ ref('orders') }}",
            "models.yml": YML,
        }

    def table(self, rows, home: str):
        schemas = f"select fields, partition_keys, primary_keys, options, comment from {home}.`orders$schemas`"
        fields, partitions, key, options, comment = rows(f"{schemas} order by schema_id desc limit 1")[0]
        return [json.loads(text) for text in (fields, partitions, key, options)], comment

    def test_like_the_original(self, project, rows, other_schema):
        self.clone()
        home, away = f"paimon.{project.test_schema}", f"paimon.{other_schema}"
        assert self.table(rows, home) == self.table(rows, away)
        assert self.table(rows, away)[1] == 'What was ordered; it\'s "all"'
        content = "select * from {} order by id"
        assert rows(content.format(f"{away}.orders")) == rows(content.format(f"{home}.orders"))
        assert len(rows(f"select * from spark_catalog.{other_schema}.seen")) == 3
        assert rows(f"select count(*) from {away}.`orders$snapshots`") == [(1,)]

        # The clone is independent: an increment there changes nothing here.
        run_dbt(["run", "--target", "other", "--vars", "{until: 5}"])
        assert rows(f"select day, amount from {away}.orders order by day") == [
            ("2026-01-01", 20),
            ("2026-01-02", 20),
            ("2026-01-03", 20),
            ("2026-01-04", 10),
        ]
        assert rows(f"select sum(amount) from {home}.orders") == [(30,)]
        # The clone knows which deletes the original applied, so the older change is ignored.
        assert rows(f"select * from {away}.changed") == [(2, "+I", 10)]

        # Without --full-refresh, the clone stays as it is; with it, the clone has the original's rows again.
        assert {result.message for result in self.clone()} == {"No-op"}
        assert rows(f"select count(*) from {away}.orders") == [(4,)]
        self.clone("--full-refresh")
        assert rows(content.format(f"{away}.orders")) == rows(content.format(f"{home}.orders"))
        leftovers = [name for _, name, _ in rows(f"show tables in {away}") if "__dbt" in name]
        assert leftovers == ["changed__dbt_deletes"]
        assert rows(f"select * from {away}.changed__dbt_deletes") == [(1, 10)]

        # If the original no longer exists, the clone stays.
        rows(f"drop table {home}.orders")
        results = run_dbt(
            ["clone", "--state", "state", "--target", "other", "--full-refresh", "-s", "orders"],
            expect_pass=False,
        )
        assert "which the state names, does not exist" in results.results[0].message
        assert rows(f"select count(*) from {away}.orders") == [(3,)]


class TestReaderOfChanges(TwoSchemas):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "numbers.sql": "{{ config(materialized='table') }} select id from range(3)",
            "log.sql": "{{ config(materialized='incremental', incremental_strategy='append') }}"
            "select id from {{ paimon_changes(ref('numbers')) }}",
        }

    def test_a_copy_has_no_position(self, project, rows, other_schema):
        """The position from before the first row must not apply to the rows of the copy."""
        run_dbt(["run", "--target", "other", "--empty"])
        self.clone("--full-refresh")
        ids = f"select id from paimon.{other_schema}.log order by id"
        assert rows(ids) == [(0,), (1,), (2,)]
        results = run_dbt(["run", "--target", "other", "--select", "log"], expect_pass=False)
        assert "it is unknown how far the model has read" in results.results[0].message
        assert rows(ids) == [(0,), (1,), (2,)]
        run_dbt(["run", "--target", "other", "--select", "log", "--full-refresh"])
        assert rows(ids) == [(0,), (1,), (2,)]


class TestStream(TwoSchemas):
    """The clone of a stream does not take over the checkpoint of the original, which is outside of both tables."""

    @pytest.fixture(scope="class")
    def models(self, unique_schema, tmp_path_factory):
        config = f"materialized='streaming', checkpoint_location='{tmp_path_factory.mktemp('checkpoints')}'"
        return {
            "log.sql": "{{ config(materialized='incremental') }} select {{ var('id', 1) }} as id",
            "events.sql": f"{{{{ config({config}) }}}}\n-- depends_on: {{{{ ref('log') }}}}\n"
            "select * from {{ stream(source('raw', 'log')) }}",
            "sources.yml": f"sources: [{{name: raw, schema: {unique_schema}, tables: [{{name: log}}]}}]",
        }

    def test_each_row_reaches_the_original(self, project, rows, other_schema):
        self.clone()
        run_dbt(["run", "--select", "log", "--vars", "id: 2"])
        (result,) = run_dbt(["run", "--target", "other", "--select", "events"], expect_pass=False)
        assert "was not written by a stream" in result.message
        # Do what the message says.
        run_dbt(["run", "--target", "other", "--select", "events", "--full-refresh"])
        run_dbt(["run", "--select", "events"])
        for schema in (project.test_schema, other_schema):
            assert rows(f"select id from paimon.{schema}.events order by id") == [(1,), (2,)]
