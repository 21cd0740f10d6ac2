"""A materialization of a package does what dbt's other adapters allow: temporary relations, wider columns, several drops."""

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
    def test_longer_text(self, project, rows):
        project.run_sql("create table paimon.{schema}.limited (word varchar(3), other string) using paimon")
        run_dbt(["run", "--vars", "{word: abcde, alias: limited}"])
        assert rows("select word, other from {schema}.limited") == [("abcde", "any")]
        types = {name: kind for name, kind, *_ in rows("describe table {schema}.limited")}
        assert (types["word"], types["other"]) == ("string", "string")
