"""dbt's own configs, as users of other adapters write them: the rows are right, or one message says what is wrong."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file

N = "cast({{ var('n', 1) }} as int)"
TABLES = {
    "upserted": "{{ config(materialized='incremental', primary_key='id') }}",
    "appended": """{{ config(materialized='incremental', pre_hook="{{ 'drop table ' ~ this if var('drop', 0) }}") }}""",
    "replaced": "{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='id, k') }}",
    "some_merged": "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id', "
    "merge_update_columns='a, k') }}",
    "none_merged": "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id', "
    "merge_exclude_columns=['a', 'b', 'k']) }}",
    "audited": "{{ config(materialized='incremental', primary_key='id', wap=true) }}",
    "described": "{{ config(materialized='table', persist_docs={'relation': true, 'columns': true}) }}",
}
APPLIED = """
{{ config(materialized='incremental', incremental_strategy='apply_changes', primary_key='id', rowkind_field='op',
          sequence_field='a') }}
select 1 as id, cast({{ var('n', 1) }} as int) as a, '+U' as op;
"""
SNAPSHOT = """
{% snapshot kept %}{{ config(unique_key="concat(id, 'x')", strategy='check', check_cols='all') }}
select 1 as id, cast({{ var('n', 1) }} as int) as a; -- done;
{% endsnapshot %}
"""
# A comment at the end of `set` would become part of the value, and a comment alone is not a statement.
HOOKED = """
{{ config(
    materialized='table',
    sql_header='set spark.sql.session.timeZone = Asia/Tokyo;',
    pre_hook=[
        '-- only a comment', ' ; ', '/* a */ ; -- b', '{% if false %}select{% endif %}',
        'drop table if exists {{ this }}',
    ],
    post_hook=[
        'set spark.sql.session.timeZone = Asia/Kolkata; -- the last',
        "insert into {{ this }} select current_timezone()",
        "call sys.compact(table => '{{ this.schema }}.hooked')",
        'reset spark.sql.session.timeZone',
        {'sql': '-- outside', 'transaction': false},
    ],
) }}
select current_timezone() as zone
"""
# A table in the first run, a view in the second.
TURNED = "{{ config(materialized='table' if var('n', 1) == 1 else 'view', pre_hook='drop table if exists {{ this }}') }} select 1 as id"
TYPED = "select 'C:\\\\temp' as ID, 1 as `Order Id`;\n-- done ) ;\n"
YAML = r"""
models:
  - name: described
    description: "it's; `one`"
    columns: [{name: ID, description: "a; 'b'"}]
  - name: typed
    config: {contract: {enforced: true}, materialized: incremental, on_schema_change: fail}
    columns: &columns
      - name: Id
        data_type: string
        data_tests:
          - accepted_values: {arguments: {values: ['C:\temp', "it's", "say \"hi\"", "two\nlines", "${x}"]}}
      - {name: Order Id, data_type: int}
  - name: typed_view
    config: {contract: {enforced: true}, materialized: view}
    columns: *columns
unit_tests:
  - name: of_a_query_with_a_semicolon
    model: typed
    given: []
    expect: {rows: [{id: 'C:\temp'}]}
"""


class TestTaken:
    """Two runs with `quoting: false`, an appended query comment, and queries that end with semicolons."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "quoting": {"database": False, "schema": False, "identifier": False},
            "query-comment": {"comment": "by dbt", "append": True},
            "on-run-start": ["-- only a comment", ";", "set spark.sql.shuffle.partitions = 2"],
            "on-run-end": ["/* nothing */"],
        }

    @pytest.fixture(scope="class")
    def models(self):
        tables = {
            f"{name}.sql": f"{config} select 1 as id, 1 as k, {N} as a, {N} as b;" for name, config in TABLES.items()
        }
        return {
            **tables,
            "applied.sql": APPLIED,
            "hooked.sql": HOOKED,
            "changed.sql": "{{ config(materialized='incremental', primary_key='id') }} "
            "select * from {{ paimon_changes(ref('upserted')) }}",
            "cte.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('upserted') }}; -- all;",
            "turned.sql": TURNED,
            "of_cte.sql": "{{ config(materialized='table') }} select * from {{ ref('cte') }}",
            "typed.sql": TYPED,
            "typed_view.sql": TYPED,
            "models.yml": YAML,
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"kept.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def tests(self):
        return {
            "singular.sql": "select * from {{ ref('upserted') }} where id = 2; -- none;",
            "stored.sql": "{{ config(store_failures=true) }} select * from {{ ref('upserted') }} where id = 2;",
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {
            "nothing.sql": "{% macro nothing() %}{% do run_query('-- nothing') %}{% do run_query(' ; ') %}{% endmacro %}"
        }

    def test_rows(self, project, rows):
        run_dbt(["build"])
        run_dbt(["build", "--vars", "n: 2"])
        found = {name: rows(f"select a, b from {{schema}}.{name} order by a") for name in TABLES}
        once = {name: [(2, 2)] for name in ("upserted", "replaced", "audited", "described")}
        assert found == {
            **once,
            "appended": [(1, 1), (2, 2)],
            "some_merged": [(2, 1)],
            "none_merged": [(1, 1)],
        }
        assert rows("select * from {schema}.applied") == [(1, 2, "+U")]
        assert rows("select a from {schema}.changed") == rows("select a from {schema}.of_cte") == [(2,)]
        assert rows("select a, dbt_valid_to is null from {schema}.kept order by a") == [(1, False), (2, True)]
        assert rows("select zone from {schema}.hooked order by 1") == [("Asia/Kolkata",), ("Asia/Tokyo",)]
        assert rows(f"select * from spark_catalog.{project.test_schema}.turned") == [(1,)]
        for name in ("{schema}.typed", f"spark_catalog.{project.test_schema}.typed_view"):
            assert [row[0] for row in rows(f"describe {name}")] == ["Id", "Order Id"]

        shown = run_dbt(["show", "--inline", "select 1 as one; -- ;"]).results[0].agate_table
        assert [tuple(row) for row in shown.rows] == [(1,)]
        results = run_dbt(["run", "--select", "appended", "--vars", "drop: 1"], expect_pass=False)
        (refused,) = (result.message for result in results if result.node.name == "appended")
        assert "was dropped after dbt had listed the tables, by a hook" in refused
        run_dbt(["run", "--select", "appended"])
        assert rows("select a, b from {schema}.appended") == [(1, 1)]
        run_dbt(["run-operation", "nothing"])
        run_dbt(["run-operation", "compact", "--args", "{relation: upserted}"])


class TestNamesInCase:
    """Names that differ only in case: Paimon tells them apart, dbt's cache does not."""

    @pytest.fixture(scope="class")
    def project_config_update(self, unique_schema):
        return {"models": {"+materialized": "table"}}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "Tab.sql": "select 'Tab' as word",
            "other.sql": "{{ config(alias='tab') }} select 'tab' as word",
            "upper.sql": "{{ config(schema='Mart') }} select 1 as id",
            "lower.sql": "{{ config(schema='mart', materialized='incremental') }} select 1 as id",
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {
            "made.sql": """
                {% macro made() %}
                  {%- set table = api.Relation.create(database=target.database, schema=schema, identifier='made') -%}
                  {%- do run_query(create_table_as(False, table, 'select 1 as id, null as word;')) -%}
                  {%- if adapter.get_relation(database=none, schema=schema, identifier='upper') -%}
                    {{ exceptions.raise_compiler_error('it is in another schema') }}
                  {%- endif -%}
                  {%- if not adapter.get_relation(database=none, schema=schema ~ '_Mart', identifier='upper') -%}
                    {{ exceptions.raise_compiler_error('not found') }}
                  {%- endif -%}
                {% endmacro %}
            """
        }

    @pytest.fixture(scope="class", autouse=True)
    def _further_schemas(self, project):
        yield
        with project.adapter.connection_named("__test"):
            for name in ("Mart", "mart"):
                schema = project.adapter.Relation.create(project.database, f"{project.test_schema}_{name}")
                project.adapter.drop_schema(schema)

    def test_names_that_differ_in_case(self, project, rows):
        for _ in range(2):
            results = run_dbt(["run"], expect_pass=False)
            messages = {result.node.name: result.message for result in results}
            for name in ("Tab", "other"):
                assert "differ only in case" in messages[name]
                assert rows(f"show tables in {{schema}} like '{name}'") == []
        assert rows("select id from {schema}_Mart.upper") == [(1,)]
        assert rows("select id from {schema}_mart.lower") == [(1,), (1,)]
        run_dbt(["run-operation", "made"])
        assert rows("select * from {schema}.made") == [(1, None)]

        # Another program created a table whose name differs only in case.
        rows("create table {schema}.Other (word string)")
        write_file("select 'Tab' as word", project.project_root, "models", "other.sql")
        (found,) = [result for result in run_dbt(["run"], expect_pass=False) if result.node.name == "other"]
        assert "differs from it only in case" in found.message
        assert rows("select * from {schema}.Tab") == [("Tab",)]


class TestRefused:
    """The first run already refuses these configs, before it builds anything."""

    @pytest.fixture(scope="class")
    def models(self):
        select = "select 1 as id, 'a' as k"
        merge = "materialized='incremental', incremental_strategy='merge'"
        return {
            "expression.sql": f"{{{{ config({merge}, unique_key='concat(id, k)') }}}} {select}",
            "kept__dbt_changes.sql": f"{{{{ config(materialized='view') }}}} {select}",
            "no_columns.sql": f"{{{{ config({merge}, unique_key='id', merge_update_columns=[]) }}}} {select}",
        }

    def test_in_the_first_run(self, project, rows):
        results = run_dbt(["run"], expect_pass=False)
        messages = {result.node.name: result.message for result in results}
        assert "concat(id, k) is an expression" in messages["expression"]
        assert "names no column" in messages["no_columns"]
        assert "keeps for 'kept'" in messages["kept__dbt_changes"]
        assert rows("show tables in {schema}") == []
