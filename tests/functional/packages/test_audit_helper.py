"""What dbt_audit_helper asks of an adapter: counts per status, sets of rows with maps, and whether two queries are alike."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

PACKAGE = """
{% macro _count_num_rows_in_status() %}
  {{ return(adapter.dispatch('_count_num_rows_in_status', 'audit_helper')()) }}
{% endmacro %}
{% macro default___count_num_rows_in_status() %}
  count(distinct dbt_audit_surrogate_key, dbt_audit_pk_row_num) over (partition by dbt_audit_row_status)
{% endmacro %}

{% macro _generate_set_results(a_query, b_query, primary_key_columns, columns, event_time_props=None) %}
  {{ return(adapter.dispatch('_generate_set_results', 'audit_helper')
    (a_query, b_query, primary_key_columns, columns, event_time_props)) }}
{% endmacro %}
{% macro default___generate_set_results(a_query, b_query, primary_key_columns, columns, event_time_props) %}
  a as (select {{ columns | join(', ') }} from ({{ a_query }}) {{ audit_helper.event_time_filter(event_time_props) }}),
  b as (select {{ columns | join(', ') }} from ({{ b_query }}) {{ audit_helper.event_time_filter(event_time_props) }}),
  a_intersect_b as (select * from a intersect select * from b),
  a_except_b as (select * from a except select * from b),
  b_except_a as (select * from b except select * from a)
{% endmacro %}

{% macro quick_are_queries_identical(query_a, query_b, columns=[], event_time=None) %}
  {{ return(adapter.dispatch('quick_are_queries_identical', 'audit_helper')(query_a, query_b, columns, event_time)) }}
{% endmacro %}
{% macro default__quick_are_queries_identical(query_a, query_b, columns, event_time) %}
  {% if execute %}{% do exceptions.raise_compiler_error('not implemented') %}{% endif %}
{% endmacro %}

{% macro _get_comparison_bounds(a_query, b_query, event_time) %}
  {{ return({'event_time': event_time, 'min_event_time': '2024-01-02', 'max_event_time': '2024-01-03'}) }}
{% endmacro %}
{% macro event_time_filter(props) %}
  {% if props %}
    where {{ props.event_time }} between '{{ props.min_event_time }}' and '{{ props.max_event_time }}'
  {% endif %}
{% endmacro %}
"""

COUNTED = """
{{ config(materialized='table') }}
select distinct dbt_audit_row_status, {{ audit_helper._count_num_rows_in_status() }} as number
from values ('added', 'a', 1), ('added', 'a', 2), ('added', 'b', 1), ('modified', 'c', 1), ('modified', 'c', 1)
  as t (dbt_audit_row_status, dbt_audit_surrogate_key, dbt_audit_pk_row_num)
"""
SETS = """
{{ config(materialized='table') }}
with
{{ audit_helper._generate_set_results(
  "select id, day, map('k', v) as tags from values (1, 'x', '2024-01-02'), (2, 'x', '2024-01-02'), (3, 'x', '2023-01-01') as t (id, v, day)",
  "select id, day, map('k', v) as tags from values (1, 'x', '2024-01-02'), (2, 'y', '2024-01-02') as t (id, v, day)",
  ['id'], ['id', 'tags'], {'event_time': 'day', 'min_event_time': '2024-01-01', 'max_event_time': '2024-12-31'}
) }}
select 'both' as found, * from a_intersect_b
union all select 'a', * from a_except_b
union all select 'b', * from b_except_a
"""
WITHOUT_MAPS = """
{{ config(materialized='table') }}
with
{{ audit_helper._generate_set_results("select 1.0 as price", "select 1.00 as price", ['price'], ['price']) }}
select count(*) as number from a_intersect_b
"""

# (the first query, the second, event time, whether they are alike)
PAIRS = {
    "order": ("values ('a', 1), ('b', 2)", "values ('b', 2), ('a', 1)", None, True),
    "other": ("values ('a', 1), ('b', 2)", "values ('a', 1), ('b', 3)", None, False),
    "twice": ("values ('a', 1), ('a', 1), ('b', 2)", "values ('a', 1), ('b', 2), ('b', 2)", None, False),
    "even": ("values ('a', 1), ('a', 1)", "values ('b', 1), ('b', 1)", None, False),
    "nulls": ("values ('1', null)", "values (null, '1')", None, False),
    "same_nulls": ("values (null, '1')", "values (null, '1')", None, True),
    "none": ("select 1, 2 where false", "select 1, 2 where false", None, True),
    "microseconds": (
        "values (timestamp '2024-01-01 00:00:00.000001', 1)",
        "values (timestamp '2024-01-01 00:00:00.000002', 1)",
        None,
        False,
    ),
    "in_time": ("values ('2024-01-01', 1), ('2024-01-02', 1)", "values ('2024-01-02', 1)", "x", True),
}


class TestAuditHelper:
    @pytest.fixture(scope="class")
    def package_name(self):
        return "audit_helper"

    @pytest.fixture(scope="class")
    def package_macros(self):
        return PACKAGE

    @pytest.fixture(scope="class")
    def models(self):
        pairs = [
            f"select '{name}' as pair, are_tables_identical from ({{{{ audit_helper.quick_are_queries_identical("
            f'"select * from ({a}) as t (x, y)", "select * from ({b}) as t (x, y)", ["x", "y"], {event_time!r}) }}}})'
            for name, (a, b, event_time, _) in PAIRS.items()
        ]
        return {
            "counted.sql": COUNTED,
            "sets.sql": SETS,
            "without_maps.sql": WITHOUT_MAPS,
            "pairs.sql": "{{ config(materialized='table') }}\n" + "\nunion all\n".join(pairs),
        }

    @pytest.mark.usefixtures("project", "installed")
    def test_macros(self, rows):
        run_dbt(["run"])
        assert rows("select * from {schema}.counted order by 1") == [("added", 3), ("modified", 1)]
        assert rows("select found, id, tags from {schema}.sets order by 2, 1") == [
            ("both", 1, '{"k":"x"}'),
            ("a", 2, '{"k":"x"}'),
            ("b", 2, '{"k":"y"}'),
        ]
        assert rows("select number from {schema}.without_maps") == [(1,)]
        assert dict(rows("select pair, are_tables_identical from {schema}.pairs")) == {
            name: alike for name, (*_, alike) in PAIRS.items()
        }
