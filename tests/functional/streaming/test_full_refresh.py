"""A full refresh of a stream of changes forgets the deletes that the old stream remembered."""

from __future__ import annotations

import json

import pytest
from dbt.tests.util import run_dbt

MODELS = {
    "sources.yml": "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: t}]}]",
    "copy.sql": """
{{ config(
    materialized='streaming', incremental_strategy='apply_changes', primary_key=var('key', 'id'), bucket=1,
    rowkind_field='_kind', sequence_field='_snapshot', alias=var('alias', 'copy')
) }}
select id, v, _kind, _snapshot from {{ stream(source('raw', 't'), row_kind='_kind', options={'consumer-id': 'copy'}) }}
{% if var('fails', false) %}where if(id = 5, raise_error('no'), true){% endif %}
""",
}
TABLE = "create table {schema}.t (id int not null, v int not null) tblproperties ('primary-key' = 'id', 'bucket' = '1')"


def run(*, wrong=False, full_refresh=False, **variables):
    arguments = ["run", "--select", "copy", "--vars", json.dumps(variables)]
    (result,) = run_dbt(arguments + ["--full-refresh"] * full_refresh, expect_pass=not wrong)
    return result.message


class TestFullRefresh:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def beside(self, rows):
        """Function: the names of the model's helper tables."""
        return lambda: sorted(row[1] for row in rows("show tables in {schema}") if row[1].startswith("copy__"))

    def test_the_deletes_of_another_table_are_forgotten(self, project, rows, beside):
        rows(TABLE)
        rows("insert into {schema}.t values (1, 10), (2, 20), (3, 30)")
        run()
        rows("insert into {schema}.t values (4, 40)")
        rows("delete from {schema}.t where id = 2")
        run()
        (before,) = beside()
        assert rows(f"select id, _snapshot from {{schema}}.{before}") == [(2, 3)]
        # The recreated source starts at table snapshot 1 again; the remembered delete is from the old snapshot 3.
        rows("drop table {schema}.t")
        rows(TABLE)
        rows("insert into {schema}.t values (1, 11)")
        assert "--full-refresh" in run(wrong=True)
        # A table of deletes that a killed refresh would leave behind.
        rows(
            f"create table {{schema}}.copy__0123456789ab__dbt_deletes using paimon as select * from {{schema}}.{before}"
        )
        run(full_refresh=True)
        rows("insert into {schema}.t values (2, 22)")
        run()
        assert sorted(rows("select id, v from {schema}.copy")) == [(1, 11), (2, 22)]
        assert before not in beside() and len(beside()) == 1

    def test_a_refresh_that_fails_leaves_nothing(self, project, rows, beside):
        there, was = beside(), rows("select id, v from {schema}.copy")
        held = rows("select * from {schema}.`t$consumers`")
        rows("insert into {schema}.t values (5, 55)")
        # The refresh fails after its table, table of deletes and checkpoint were created.
        run(wrong=True, full_refresh=True, fails=True)
        assert (beside(), rows("select id, v from {schema}.copy")) == (there, was)
        # The source still keeps what the old stream has yet to read.
        assert rows("select * from {schema}.`t$consumers`") == held

    def test_which_rows_a_batch_has_is_lost(self, project, rows, warehouse):
        was = rows("select id, v from {schema}.copy")
        run(wrong=True, fails=True)
        plans = warehouse.glob(f"{project.test_schema}.db/copy/__dbt_checkpoint/*/dbt_plans/0/*.json")
        max(plans).unlink()
        message = run(wrong=True)
        assert "is missing" in message and "--full-refresh" in message
        assert rows("select id, v from {schema}.copy") == was
        run(full_refresh=True)
        assert sorted(rows("select id, v from {schema}.copy")) == sorted(rows("select * from {schema}.t"))

    def test_a_table_that_is_renamed_within_a_batch(self, project, rows):
        was = sorted(rows("select id, v from {schema}.copy"))
        rows("insert into {schema}.t values (5, 56)")
        run(wrong=True, fails=True)
        rows(f"alter table {{schema}}.copy rename to {project.test_schema}.renamed")
        # The batch's files are in the old folder. Without an error, Spark would treat the missing files as empty.
        assert "is missing" in run(wrong=True, alias="renamed")
        assert sorted(rows("select id, v from {schema}.renamed")) == was
        rows(f"alter table {{schema}}.renamed rename to {project.test_schema}.copy")
        run()
        assert sorted(rows("select id, v from {schema}.copy")) == sorted(rows("select * from {schema}.t"))

    def test_another_key(self, project, rows, beside):
        rows("delete from {schema}.t where id = 1")
        run(full_refresh=True, key=["id", "v"])
        run(key=["id", "v"])
        assert sorted(rows("select id, v from {schema}.copy")) == sorted(rows("select * from {schema}.t"))
        assert len(beside()) == 1
