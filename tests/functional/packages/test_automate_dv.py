"""The adapter calls the right variant (Databricks, PostgreSQL, …) of each macro of automate_dv."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

VARIANTS = {
    "bridge": "default",
    "cast_date": "databricks",
    "cast_datetime": "databricks",
    "concat_ws": "databricks",
    "eff_sat": "default",
    "get_escape_characters": "databricks",
    "get_period_of_load": "databricks",
    "hash": "databricks",
    "hash_alg_md5": "databricks",
    "hash_alg_sha1": "databricks",
    "hash_alg_sha256": "databricks",
    "hub": "sqlserver",
    "incremental_bridge_replace": "databricks",
    "incremental_pit_replace": "databricks",
    "link": "postgres",
    "log_relation_sources": "databricks",
    "ma_sat": "default",
    "nh_link": "databricks",
    "pit": "databricks",
    "ref_table": "databricks",
    "replace_placeholder_with_rank_filter": "bigquery",
    "sat": "postgres",
    "standard_column_wrapper": "databricks",
    "type_binary": "databricks",
    "xts": "databricks",
}
# These macros must see the `target.type` postgres, so that the package generates SQL without QUALIFY.
TOLD_ANOTHER_TYPE = {"bridge", "eff_sat", "ma_sat"}

MACRO = """
{%% macro %(name)s(columns) %%}
  {{ return(adapter.dispatch('%(name)s', 'automate_dv')(columns=columns)) }}
{%% endmacro %%}
{%% macro %(variant)s__%(name)s(columns) %%}
  {{ return('%(variant)s ' ~ columns ~ ' ' ~ target.type) }}
{%% endmacro %%}
"""
PERIODS = """
{% macro get_period_boundaries(target_relation, timestamp_field, start_date, stop_date, period) %}
  {{ return(adapter.dispatch('get_period_boundaries', 'automate_dv')(
    target_relation=target_relation, timestamp_field=timestamp_field, start_date=start_date, stop_date=stop_date, period=period)) }}
{% endmacro %}
{% macro timestamp_add(datepart, interval, from_date_or_timestamp) %}
  {{ return(dbt.dateadd('millisecond', 86399999, from_date_or_timestamp)) }}
{% endmacro %}
{% macro get_query_results_as_dict(query) %}
  {% set found = {} %}
  {% for column in run_query(query).columns %}{% do found.update({column.name | upper: column.values()}) %}{% endfor %}
  {{ return(found) }}
{% endmacro %}
"""

BOUNDS = """
{{ config(materialized='table') }}
-- depends_on: {{ ref('loaded') }}
{% if execute %}
{% set ns = namespace(rows=[]) %}
{% for stop in ['2024-01-05', '2023-12-31', none] %}
  {% set bounds = automate_dv.get_period_boundaries(ref('loaded'), 'at', '2020-01-01', stop, 'day') %}
  {% do ns.rows.append("select '" ~ stop ~ "' as stop, '" ~ bounds.start_timestamp ~ "' as first, "
    ~ bounds.num_periods ~ " as periods") %}
{% endfor %}
{{ ns.rows | join(' union all ') }}
{% endif %}
"""


class TestAutomateDv:
    @pytest.fixture(scope="class")
    def package_name(self):
        return "automate_dv"

    @pytest.fixture(scope="class")
    def package_macros(self):
        macros = [MACRO % {"name": name, "variant": variant} for name, variant in VARIANTS.items()]
        return "\n".join([*macros, PERIODS])

    @pytest.fixture(scope="class")
    def models(self):
        found = [
            f"select '{name}' as name, '{{{{ automate_dv.{name}(columns='c') }}}}' as told, '{{{{ target.type }}}}' as kept"
            for name in VARIANTS
        ]
        return {
            "found.sql": "{{ config(materialized='table') }}\n" + "\nunion all\n".join(found),
            "hashed.sql": "{{ config(materialized='table') }} select {{ dbt.hash('1') }} as hash",
            "loaded.sql": "{{ config(materialized='table') }} select timestamp '2024-01-03 00:00:00' as at",
            "bounds.sql": BOUNDS,
        }

    @pytest.mark.usefixtures("project", "installed")
    def test_macros(self, rows):
        run_dbt(["run"])
        assert dict(rows("select name, trim(told) from {schema}.found")) == {
            name: f"{variant} c {'postgres' if name in TOLD_ANOTHER_TYPE else 'paimon'}"
            for name, variant in VARIANTS.items()
        }
        assert rows("select distinct kept from {schema}.found") == [("paimon",)]
        assert rows("select hash = md5('1') from {schema}.hashed") == [(True,)]

    @pytest.mark.usefixtures("project", "installed")
    def test_periods(self, rows):
        run_dbt(["run", "--select", "+bounds"])
        found = {stop: (first, periods) for stop, first, periods in rows("select * from {schema}.bounds")}
        assert found["2024-01-05"] == ("2024-01-03 00:00:00", 3)
        assert found["2023-12-31"] == ("2023-12-31 23:59:59.999000", 1)
        assert found["None"][1] > 1
