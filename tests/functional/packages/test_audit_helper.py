"""The adapter's macros for dbt_audit_helper: counts per status, and whether two queries are identical."""

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

# name -> (first query, second query, event time, whether the queries are identical)
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
            "pairs.sql": "{{ config(materialized='table') }}\n" + "\nunion all\n".join(pairs),
        }

    @pytest.mark.usefixtures("project", "installed")
    def test_macros(self, rows):
        run_dbt(["run"])
        assert rows("select * from {schema}.counted order by 1") == [("added", 3), ("modified", 1)]
        assert dict(rows("select pair, are_tables_identical from {schema}.pairs")) == {
            name: alike for name, (*_, alike) in PAIRS.items()
        }
