"""A package's materialization may create temporary relations, widen columns and drop what does not exist."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

PACKAGE = """
{% materialization insert_again, default %}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set existing = load_relation(this) -%}
  {%- set staged = make_temp_relation(target_relation) -%}
  {%- set never_made = make_temp_relation(target_relation) -%}
  {%- if existing is none -%}
    {%- call statement('main') -%}{{ create_table_as(False, target_relation, sql) }}{%- endcall -%}
  {%- else -%}
    {%- call statement() -%}{{ create_table_as(True, staged, sql) }}{%- endcall -%}
    {%- do adapter.expand_target_column_types(from_relation=staged, to_relation=target_relation) -%}
    {%- call statement('main') -%}
      insert into {{ target_relation }} (select * from {{ staged.include(schema=True) }});
    {%- endcall -%}
  {%- endif -%}
  {%- do adapter.drop_relation(staged) -%}
  {%- do adapter.drop_relation(never_made) -%}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

{% macro merge_staged(temporary) %}
  {#- As written for dbt-spark, where the database is the schema. -#}
  {%- set base = api.Relation.create(database=target.schema, schema=target.schema, identifier='merged') -%}
  {%- set staged = make_temp_relation(base) if temporary else make_intermediate_relation(base, '__stage') -%}
  {%- do run_query(create_table_as(temporary, staged, "select 'abc' as word, 1 as n")) -%}
  {%- do run_query("merge into " ~ staged ~ " as t using (select *, 0 as n from " ~ base ~ ") as s on t.word = s.word "
    ~ "when matched then update set n = 2 when not matched then insert (word, n) values (s.word, s.n)") -%}
{% endmacro %}
"""

MODEL = """
{{ config(materialized='insert_again', alias=var('alias', 'words')) }}
select '{{ var("word") }}' as word, 'any' as other
"""


class TestForeignMaterialization:
    @pytest.fixture(scope="class")
    def package_name(self):
        return "periods"

    @pytest.fixture(scope="class")
    def package_macros(self):
        return PACKAGE

    @pytest.fixture(scope="class")
    def models(self):
        return {"words.sql": MODEL}

    @pytest.mark.usefixtures("project", "installed")
    def test_runs_again(self, rows):
        run_dbt(["run", "--vars", "{word: abc}"])
        run_dbt(["run", "--vars", "{word: abcde}"])
        assert rows("select word, other from {schema}.words order by 1") == [("abc", "any"), ("abcde", "any")]

    @pytest.mark.usefixtures("installed")
    def test_merge_into_a_staged_table(self, project, rows):
        run_dbt(["run", "--vars", "{word: abc, alias: merged}"])
        failed = run_dbt(["run-operation", "periods.merge_staged", "--args", "{temporary: true}"], expect_pass=False)
        assert "make_intermediate_relation" in failed.results[0].message
        run_dbt(["run-operation", "periods.merge_staged", "--args", "{temporary: false}"])
        assert ("abc", 2) in rows("select word, n from {schema}.merged__stage")

    @pytest.mark.usefixtures("installed")
    def test_longer_text(self, project, rows):
        project.run_sql("create table paimon.{schema}.limited (word varchar(3), other string) using paimon")
        run_dbt(["run", "--vars", "{word: abcde, alias: limited}"])
        assert rows("select word, other from {schema}.limited") == [("abcde", "any")]
        types = {name: kind for name, kind, *_ in rows("describe table {schema}.limited")}
        assert (types["word"], types["other"]) == ("string", "string")
