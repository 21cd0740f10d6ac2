"""A project's or package's override of a dbt macro is called, or a warning names it."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

# As in snowplow_utils: only rows of the last days may match. The `dispatch` config below selects these macros.
PACKAGE = """
{% macro default__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %}
  {%- set window = "DBT_INTERNAL_DEST.day >= date '2024-01-02'" -%}
  {{ return(dbt.spark__get_merge_sql(target, source, unique_key, dest_columns, [window])) }}
{% endmacro %}

{% macro default__get_delete_insert_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %}
  delete from {{ target }} where day >= date '2024-01-02'
    and {{ unique_key }} in (select {{ unique_key }} from {{ source }});
  {%- set names = get_quoted_csv(dest_columns | map(attribute='name')) %}
  insert into {{ target }} ({{ names }}) (select {{ names }} from {{ source }});
{% endmacro %}

{% macro default__get_insert_overwrite_merge_sql(target, source, dest_columns, predicates, include_sql_header) %}
  {%- for column in adapter.get_columns_in_relation(source) if column.name == 'day' -%}
  insert overwrite {{ target }} select id, n + 1000, day from {{ source }}
  {%- endfor -%}
{% endmacro %}
"""
PROJECT = """
{% macro get_incremental_upsert_sql(arg_dict) %}
  insert into {{ arg_dict.target_relation }} select id, n + 1, day from {{ arg_dict.temp_relation }}
{% endmacro %}
{# Strategies of the project's own. The name of the second resembles one of the adapter's. #}
{% macro get_incremental_replace_days_sql(arg_dict) %}
  {%- set rows = "(select * from " ~ arg_dict.temp_relation ~ " where id > 1)" -%}
  {{ return(get_incremental_insert_overwrite_sql(dict(arg_dict, temp_relation=rows))) }}
{% endmacro %}
{% macro get_incremental_append_only_sql(arg_dict) %}
  insert into {{ arg_dict.target_relation }} select id, n + 2, day from {{ arg_dict.temp_relation }}
{% endmacro %}
{% macro get_incremental_by_window_sql(arg_dict) %}
  {{ return(get_incremental_microbatch_sql(arg_dict)) }}
{% endmacro %}
{% macro default__location_clause() %}{% endmacro %}

{# As in projects with elementary. #}
{% materialization test, default %}
  {%- do run_query("create table " ~ target.schema ~ ".tested as select '" ~ model.name ~ "' as name") -%}
  {{ return(dbt.materialization_test_default()) }}
{% endmaterialization %}
"""
FIRST = "(1, 10, date '2024-01-01'), (2, 20, date '2024-01-02')"
# A row outside the window, a row inside it, a new row, and a row that is too old. The last must stay out, although
# delete+insert first deletes the row with max(n), which the model's filter reads.
SECOND = (
    "(1, 25, date '2024-01-01'), (2, 26, date '2024-01-02'), (3, 30, date '2024-01-03'), (4, 15, date '2024-01-03')"
)
MODEL = f"""
select id, n, day from values
{{% if is_incremental() %}}{SECOND}{{% else %}}{FIRST}{{% endif %}} as t(id, n, day)
{{% if is_incremental() %}} where n > (select max(n) from {{{{ this }}}}){{% endif %}}
"""
CONFIGS = {
    "merged": "incremental_strategy='merge', unique_key='id'",
    "merged_by_key": "incremental_strategy='merge', primary_key='id'",
    "deleted": "incremental_strategy='delete+insert', unique_key='id'",
    "overwritten": "incremental_strategy='insert_overwrite', partition_by='day'",
    "upserted": "primary_key='id'",
    "days_replaced": "incremental_strategy='replace_days', partition_by='day'",
    "appended_only": "incremental_strategy='append_only'",
}
# A strategy of the project's own whose increment is refused.
REFUSED = {
    "windows": "incremental_strategy='by_window', partition_by='day'",
}


class TestOverrides:
    @pytest.fixture(scope="class")
    def package_name(self):
        return "windows"

    @pytest.fixture(scope="class")
    def package_macros(self):
        return PACKAGE

    @pytest.fixture(scope="class")
    def macros(self):
        return {"own.sql": PROJECT}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"dispatch": [{"macro_namespace": "dbt", "search_order": ["windows", "test", "dbt"]}]}

    @pytest.fixture(scope="class")
    def models(self):
        head = "{{{{ config(materialized='incremental', {}) }}}}"
        return {f"{name}.sql": head.format(config) + MODEL for name, config in {**CONFIGS, **REFUSED}.items()}

    @pytest.fixture(scope="class")
    def tests(self):
        return {"no_negative_key.sql": "select id from {{ ref('upserted') }} where id < 0"}

    @pytest.mark.usefixtures("project", "installed")
    def test_overrides_write_the_rows(self, rows):
        run_dbt(["run"])
        failed = [result for result in run_dbt(["run"], expect_pass=False) if result.status != "success"]
        assert [result.node.name for result in failed] == list(REFUSED)
        assert "Set it, or call get_incremental_insert_overwrite_sql" in failed[0].message
        found = {
            name: [tuple(row) for row in rows(f"select id, n from {{schema}}.{name} order by id, n")]
            for name in (*CONFIGS, *REFUSED)
        }
        # In merged_by_key, the row outside the window is inserted too, and replaces the row with the same key.
        assert found == {
            "merged": [(1, 10), (1, 25), (2, 26), (3, 30)],
            "merged_by_key": [(1, 25), (2, 26), (3, 30)],
            "deleted": [(1, 10), (1, 25), (2, 26), (3, 30)],
            "overwritten": [(1, 1025), (2, 1026), (3, 1030)],
            "upserted": [(1, 26), (2, 27), (3, 31)],
            "days_replaced": [(1, 10), (2, 26), (3, 30)],
            "appended_only": [(1, 10), (1, 27), (2, 20), (2, 28), (3, 32)],
            "windows": [(1, 10), (2, 20)],
        }
        run_dbt(["test"])
        assert rows("select name from {schema}.tested") == [("no_negative_key",)]
        # A warning names the override that is never called; with --warn-error, the warning fails the node.
        (result,) = run_dbt(["run", "--select", "upserted", "--warn-error"], expect_pass=False)
        assert "test.default__location_clause" in result.message
