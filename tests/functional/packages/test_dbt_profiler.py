"""The adapter's macros for dbt_profiler: column types, which types are numeric, and the type for text."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

PACKAGE = """
{% macro select_from_information_schema_columns(relation) %}
  {{ return(adapter.dispatch('select_from_information_schema_columns', 'dbt_profiler')(relation)) }}
{% endmacro %}
{% macro default__select_from_information_schema_columns(relation) %}
  select * from {{ relation.information_schema() }}.columns
{% endmacro %}
{% macro type_string() %}{{ return(adapter.dispatch('type_string', 'dbt_profiler')()) }}{% endmacro %}
{% macro default__type_string() %}varchar{% endmacro %}
{% macro is_numeric_dtype(dtype) %}{{ return(adapter.dispatch('is_numeric_dtype', 'dbt_profiler')(dtype)) }}{% endmacro %}
{% macro default__is_numeric_dtype(dtype) %}{{ return(dtype.startswith('int')) }}{% endmacro %}
{% macro is_struct_dtype(dtype) %}{{ return(adapter.dispatch('is_struct_dtype', 'dbt_profiler')(dtype)) }}{% endmacro %}
{% macro default__is_struct_dtype(dtype) %}{{ return(dtype.startswith('struct')) }}{% endmacro %}

{% macro get_profile(relation) %}
  {% for row in run_query(dbt_profiler.select_from_information_schema_columns(relation)).rows %}
    {{ 'union all' if not loop.first }}
    select '{{ row.column_name }}' as name, cast(
      {% if dbt_profiler.is_numeric_dtype(row.data_type) %} max({{ adapter.quote(row.column_name) }})
      {% elif dbt_profiler.is_struct_dtype(row.data_type) %} null
      {% else %} count(distinct {{ adapter.quote(row.column_name) }}) || ' different' {% endif %}
      as {{ dbt_profiler.type_string() }}) as measure
    from {{ relation }}
  {% endfor %}
{% endmacro %}
"""
VALUES = {
    "Id": ("cast(7 as tinyint)", "7"),
    "price": ("1.25", "1.25"),
    "ratio": ("cast(0.5 as double)", "0.5"),
    "from": ("'it''s'", "1 different"),
    "day": ("date '2024-01-01'", "1 different"),
    "pairs": ("map('a', 1)", None),
    "parts": ("named_struct('b', 1)", None),
}
PROFILE = (
    "{{{{ config(materialized='table') }}}} -- depends_on: {{{{ ref('{0}') }}}}\n"
    "{{% if execute %}}{{{{ dbt_profiler.get_profile(ref('{0}')) }}}}{{% endif %}}"
)


class TestProfiler:
    @pytest.fixture(scope="class")
    def package_name(self):
        return "dbt_profiler"

    @pytest.fixture(scope="class")
    def package_macros(self):
        return PACKAGE

    @pytest.fixture(scope="class")
    def models(self):
        selected = ", ".join(f"{value} as `{name}`" for name, (value, _) in VALUES.items())
        return {
            "a_table.sql": "{{ config(materialized='table') }} select " + selected,
            "a_view.sql": "{{ config(materialized='view') }} select * from {{ ref('a_table') }}",
            "of_table.sql": PROFILE.format("a_table"),
            "of_view.sql": PROFILE.format("a_view"),
        }

    @pytest.mark.usefixtures("project", "installed")
    def test_macros(self, rows):
        run_dbt(["run"])
        for name in ("of_table", "of_view"):
            expected = {name: measure for name, (_, measure) in VALUES.items()}
            assert dict(rows(f"select name, measure from {{schema}}.{name}")) == expected
