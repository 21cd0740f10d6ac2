"""The adapter's macros for elementary: intermediate tables, temporary views, and replacing rows by key."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

PACKAGE = """
{% macro table_name_with_suffix(table_name, suffix) %}{{ return(table_name ~ suffix) }}{% endmacro %}
{% macro get_timestamped_table_suffix() %}{{ return('__tmp_1') }}{% endmacro %}

{% macro upload() %}
  {% set relation = load_relation(ref('artifacts')) %}
  {% set staged = adapter.dispatch('edr_make_intermediate_relation', 'elementary')(relation) %}
  {% do run_query("create table " ~ staged ~ " as select * from values (2, 'new'), (2, 'twice'), (3, 'three') as t (id, word)") %}
  {% for query in adapter.dispatch('get_delete_and_insert_queries', 'elementary')(relation, staged, staged, 'id') %}
    {% do run_query(query) %}
  {% endfor %}
  {% do adapter.drop_relation(staged) %}
  {% set view = adapter.dispatch('edr_make_temp_relation', 'elementary')(relation, '__view') %}
  {% do run_query("create or replace temporary view " ~ view ~ " as select 9 as id, 'view' as word") %}
  {% do run_query("insert into " ~ relation ~ " select * from " ~ view) %}
  {% do adapter.drop_relation(view) %}
{% endmacro %}
"""


class TestElementary:
    @pytest.fixture(scope="class")
    def package_name(self):
        return "elementary"

    @pytest.fixture(scope="class")
    def package_macros(self):
        return PACKAGE

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "artifacts.sql": "{{ config(materialized='table') }} "
            "select * from values (1, 'one'), (2, 'old'), (null, 'lost') as t (id, word)"
        }

    @pytest.mark.usefixtures("project", "installed")
    def test_macros(self, rows):
        run_dbt(["run"])
        run_dbt(["run-operation", "elementary.upload"])
        assert rows("select id, word from {schema}.artifacts order by id, word") == [
            (1, "one"),
            (2, "new"),
            (2, "twice"),
            (3, "three"),
            (9, "view"),
        ]
        assert [name for _, name, *_ in rows("show tables in {schema}")] == ["artifacts"]
