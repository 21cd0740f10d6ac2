"""Packages' macros find the implementations of Spark and the adapter, unless the `dispatch` config excludes them."""

from __future__ import annotations

import pytest
from dbt.tests.util import get_connection, run_dbt
from dbt_common.exceptions import DbtDatabaseError

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


# As in dbt_utils, whose own macros give other rows on Spark.
WRONG_ON_SPARK = """
{% macro deduplicate(relation, partition_by, order_by) %}
  {{ return(adapter.dispatch('deduplicate', 'dbt_utils')(relation, partition_by, order_by)) }}
{% endmacro %}
{% macro width_bucket(expr, min_value, max_value, num_buckets) %}
  {{ return(adapter.dispatch('width_bucket', 'dbt_utils')(expr, min_value, max_value, num_buckets)) }}
{% endmacro %}
{% macro union_relations(relations, column_override=none) %}
  {{ return(adapter.dispatch('union_relations', 'dbt_utils')(relations, column_override, [], [], none, none)) }}
{% endmacro %}
{% macro default__union_relations(relations, column_override, include, exclude, source_column_name, where) %}
  {%- for relation in relations %}
    select
      {%- for column in adapter.get_columns_in_relation(relations[0]) %}
      cast({{ column.quoted }} as {{ column_override.get(column.column, column.data_type) }}) as {{ column.quoted }}
      {{- ',' if not loop.last }}
      {%- endfor %}
    from {{ relation }} {{ 'union all' if not loop.last }}
  {%- endfor %}
{% endmacro %}
{% test not_accepted_values(model, column_name, values, quote=True) %}
  {{ adapter.dispatch('test_not_accepted_values', 'dbt_utils')(model, column_name, values, quote) }}
{% endtest %}
"""
TYPED = """
models:
  - name: wide
    columns:
      - name: price
        data_tests:
          - accepted_values: {arguments: {values: [0, 2.5]}}
      - {name: known, data_tests: [accepted_values: {arguments: {values: [true]}}]}
      - name: id
        data_tests:
          - accepted_values: {arguments: {values: [1, 3000000000, x]}}
          - accepted_values: {name: other_id, arguments: {values: ["3000000000.5", x, "99999999999999999999"]}}
      - {name: code, data_tests: [accepted_values: {arguments: {values: [b]}}]}
  - name: narrow
    columns:
      - name: price
        data_tests: [dbt_utils.not_accepted_values: {name: no_price, arguments: {values: [0]}}]
"""


class TestMacrosThatAreWrongOnSpark:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+materialized": "table"}}

    @pytest.fixture(scope="class")
    def package_name(self):
        return "dbt_utils"

    @pytest.fixture(scope="class")
    def package_macros(self):
        return WRONG_ON_SPARK

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "narrow.sql": "select 1 as id, 0.00BD as price, true as known, cast(null as string) as note, 7 as code",
            "wide.sql": "select 3000000000 as id, 2.5BD as price, true as known, 'a' as note, 'b' as code",
            "wide.yml": TYPED,
            "both.sql": "{{ dbt_utils.union_relations([ref('narrow'), ref('wide')]) }}",
            "newest.sql": "{{ dbt_utils.deduplicate(ref('both'), partition_by='id', order_by='price desc') }}",
            "binned.sql": "select x, {{ dbt_utils.width_bucket('x', 1, 11, 5) }} as bin from values (0), (1), (2), (3) as _ (x)",
        }

    @pytest.mark.usefixtures("project", "installed")
    def test_rows(self, rows):
        run_dbt(["build", "--exclude", "no_price", "other_id"])
        every = [(1, 0, True, None, "7"), (3_000_000_000, 2.5, True, "a", "b")]
        assert sorted(rows("select id, cast(price as double), known, note, code from {schema}.both")) == every
        assert sorted(rows("select id, cast(price as double), known, note, code from {schema}.newest")) == every
        assert sorted(rows("select * from {schema}.binned")) == [(0, 0), (1, 1), (2, 1), (3, 2)]
        results = run_dbt(["test", "--select", "no_price", "other_id"], expect_pass=False)
        assert [result.failures for result in results] == [1, 1]

    def test_validate_sql(self, project):
        """The SQL check of dbt Power User, among others."""
        with get_connection(project.adapter):
            project.adapter.validate_sql("select 1 as id")
            with pytest.raises(DbtDatabaseError, match="no_such"):
                project.adapter.validate_sql("select no_such from range(1)")
