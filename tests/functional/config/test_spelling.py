"""Configs that spell columns in another case, and columns whose case changes: rows and history stay right."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

# The variables `query` and `config` set the case of column names in the query and in the config.
QUERY = """
{%- set c = [] -%}
{%- for name in ['id', 'dt', 'ts', 'v', 'op', 'at'] -%}
  {%- do c.append(name | upper if var('query', 'lower') == 'upper' else name) -%}
{%- endfor -%}
select {{ var('run', 1) }} as {{ c[2] }}, 'a' as {{ c[1] }}, {{ var('run', 1) }} * 10 as {{ c[3] }}, 'u' as {{ c[4] }},
  1 as {{ c[0] }}, timestamp '2024-01-01 10:00:00' as {{ c[5] }}
union all select 1, 'b', 5, 'u', {{ var('run', 1) }} + 1, timestamp '2024-01-01 11:00:00'
"""
KEYED = "primary_key=[k('id'), k('dt')], partition_by=k('dt'), bucket=2, bucket_key=k('id')"
MODELS = {
    "whole": f"materialized='table', {KEYED}, sequence_field=k('ts')",
    "upserted": f"materialized='incremental', {KEYED}, sequence_field=k('ts')",
    "replaced": "materialized='incremental', incremental_strategy='insert_overwrite', partition_by=k('dt')",
    "merged": "materialized='incremental', incremental_strategy='merge', primary_key=k('id'), unique_key=k('id'), "
    "merge_update_columns=[k('ts'), k('v')], sequence_field=k('ts')",
    "grouped": "materialized='incremental', merge_engine='partial-update', primary_key=k('id'), "
    "fields={k('ts'): {'sequence_group': [k('v'), k('dt')]}}",
    "applied": "materialized='incremental', incremental_strategy='apply_changes', primary_key=k('id'), "
    "rowkind_field=k('op'), sequence_field=k('ts')",
    "batched": "materialized='incremental', incremental_strategy='microbatch', event_time=k('at'), batch_size='day', "
    "begin='2024-01-01', partition_by=k('dt')",
}
HEAD = "{% macro k(name) %}{{ return(name | upper if var('config', 'upper') == 'upper' else name) }}{% endmacro %}"
DAY = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]


class TestCase:
    @pytest.fixture(scope="class")
    def macros(self):
        return {"k.sql": HEAD}

    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": f"{{{{ config({config}) }}}}{QUERY}" for name, config in MODELS.items()}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"seeded.csv": "id,dt,v\n1,a,10\n", "seeded.yml": SEED}

    def test_runs(self, project, rows):
        last = dict.fromkeys([*MODELS, "seeded"], 0)
        for run, (config, query, *flags) in enumerate(
            [
                ("upper", "lower"),
                ("upper", "lower"),
                ("lower", "upper"),
                ("upper", "upper", "--full-refresh"),
            ],
            start=1,
        ):
            given = f"{{run: {run}, config: {config}, query: {query}}}"
            run_dbt(["build", "--vars", given, *DAY, *flags])
            began = 4 if run == 4 else 1
            for name in MODELS:
                found = rows(f"select id, dt, ts, v from {{schema}}.{name} order by id, dt")
                assert found == expected(name, run, began), (name, run)
            assert rows("select id, v from {schema}.seeded") == [(1, 10)]
            for name in last:
                ids = rows(f"select min(snapshot_id), max(snapshot_id) from {{schema}}.`{name}$snapshots`")[0]
                assert ids[0] == 1 and ids[1] > last[name], (name, run, ids)
                last[name] = ids[1]


SEED = """
seeds:
  - name: seeded
    config: {primary_key: "{{ 'ID' if var('config', 'upper') == 'upper' else 'id' }}"}
"""


def expected(name: str, run: int, began: int) -> list[tuple]:
    """Row 1 after the last run, and the row that each run since `began` added; replaced tables have only the last."""
    kept = [run] if name in ("whole", "replaced", "batched") else range(began, run + 1)
    return [(1, "a", run, run * 10), *((each + 1, "b", 1, 5) for each in kept)]


class TestValues:
    """NaN in keys and sequence fields, and read options that other programs set on a table."""

    @pytest.fixture(scope="class")
    def models(self):
        rows = "select 1 as id, cast('{{ var(\"at\", 7) }}' as double) as at, {{ var('v', 1) }} as v"
        heads = {
            "sequence": "materialized='incremental', sequence_field='AT'",
            "groups": "materialized='incremental', merge_engine='partial-update', "
            "fields={'at': {'sequence_group': 'v'}}",
            "built": "materialized='table', sequence_field='at'",
        }
        at = "cast('{{ var(\"at\", 7) }}' as double)"
        nested = rows.replace(at, f"named_struct('a', array(null, {at}))")
        return {f"{name}.sql": f"{{{{ config(primary_key='id', {head}) }}}} {rows}" for name, head in heads.items()} | {
            "nested.sql": f"{{{{ config(primary_key='id', {heads['sequence']}) }}}} {nested}",
            "keyed.sql": f"{{{{ config(materialized='table', primary_key='at') }}}} {rows}",
        }

    def test_a_sequence_that_is_no_number(self, project, rows):
        for at in ("NaN", "7", "NaN", "5"):
            results = run_dbt(["run", "--vars", f"{{at: '{at}', v: 2}}"], expect_pass=at != "NaN")
            if at == "NaN":
                assert {str(result.status) for result in results} == {"error"} and len(results) == 5
                for result in results:
                    assert f"model '{result.node.name}'" in result.message
                    kind = "key" if result.node.name == "keyed" else "sequence"
                    assert f"the {kind} column at " in result.message and " NaN, which" in result.message
        assert [rows(f"select at from {{schema}}.{name}") for name in ("sequence", "groups", "built")] == [
            [(7.0,)],
            [(7.0,)],
            [(5.0,)],
        ]
        assert rows("select at.a[1] from {schema}.nested") == [(7.0,)]
        assert rows("select at, v from {schema}.keyed") == [(5.0, 2)]

    def test_options_of_a_read_that_others_put_onto_a_table(self, project, rows):
        table = "{schema}.sequence"
        for option in ("scan.snapshot-id", "consumer-id"):
            rows(f"alter table {table} set tblproperties ('{option}' = '1')")
            run_dbt(["run", "--select", "sequence", "--vars", "{at: 8}"])
            assert rows(f"select at from {table}") == [(8.0,)]
            assert option not in dict(rows("select key, value from {schema}.`sequence$options`"))
        rows(f"alter table {table} set tblproperties ('branch' = 'b')")
        (result,) = run_dbt(["run", "--select", "sequence", "--vars", "{at: 9}"], expect_pass=False)
        assert "unset tblproperties ('branch')" in result.message
        rows(f"alter table {table} unset tblproperties ('branch')")
        run_dbt(["run", "--select", "sequence", "--vars", "{at: 9}"])
        assert rows(f"select at from {table}") == [(9.0,)]
