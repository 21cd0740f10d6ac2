"""Packages' macros find the implementations of Spark and the adapter, unless the `dispatch` config excludes them."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

# As in dbt_utils: its macros dispatch to a default in its namespace; `words` also has a Spark implementation.
PACKAGE = """
{% macro get_tables_by_pattern_sql(schema_pattern, table_pattern, exclude='', database=target.database) %}
  {{ return(adapter.dispatch('get_tables_by_pattern_sql', 'dbt_utils')
    (schema_pattern, table_pattern, exclude, database)) }}
{% endmacro %}

{% macro default__get_tables_by_pattern_sql(schema_pattern, table_pattern, exclude='', database=target.database) %}
  select table_schema, table_name, table_type from {{ database }}.information_schema.tables
{% endmacro %}

{% macro words() %}{{ return(adapter.dispatch('words', 'dbt_utils')()) }}{% endmacro %}
{% macro default__words() %}'default'{% endmacro %}
{% macro spark__words() %}'spark'{% endmacro %}
"""

FOUND = """
{{ config(materialized='table') }}
{{ dbt_utils.get_tables_by_pattern_sql(target.schema, 'event%', exclude='%_old') }}
"""


class TestDispatch:
    @pytest.fixture(scope="class")
    def package_name(self):
        return "dbt_utils"

    @pytest.fixture(scope="class")
    def package_macros(self):
        return PACKAGE

    @pytest.fixture(scope="class")
    def models(self):
        table = "{{ config(materialized='table') }} select 1 as id"
        return {
            "events_1.sql": table,
            "event_2_old.sql": table,
            "other_event.sql": table,
            "Events_view.sql": "{{ config(materialized='view') }} select 1 as id",
            "found.sql": FOUND
            + "-- depends_on: {{ ref('events_1') }} {{ ref('Events_view') }} {{ ref('event_2_old') }}",
            "spark_words.sql": "{{ config(materialized='table') }} select {{ dbt_utils.words() }} as word",
        }

    @pytest.mark.usefixtures("installed")
    def test_macros(self, project, rows):
        run_dbt(["run"])
        assert rows("select word from {schema}.spark_words") == [("spark",)]
        assert rows("select table_name, table_type, table_schema from {schema}.found order by 1") == [
            ("Events_view", "view", project.test_schema),
            ("events_1", "table", project.test_schema),
        ]


class TestOwnSearchOrder(TestDispatch):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"dispatch": [{"macro_namespace": "dbt_utils", "search_order": ["dbt_utils", "dbt"]}]}

    @pytest.mark.usefixtures("project", "installed")
    def test_macros(self, rows):
        run_dbt(["run", "--select", "spark_words"])
        assert rows("select word from {schema}.spark_words") == [("spark",)]
        [result] = run_dbt(["run", "--select", "found"], expect_pass=False)
        assert "information_schema" in result.message
