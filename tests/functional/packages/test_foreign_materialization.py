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

{#- Uses dbt's building blocks, and writes the rows three times. -#}
{% materialization by_blocks, default %}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set made = make_intermediate_relation(target_relation) -%}
  {%- set again = make_intermediate_relation(target_relation, '__again') -%}
  {%- set seen = this.incorporate(type='view', path={'identifier': this.identifier ~ '__seen'}) -%}
  {%- call statement('main') -%}{{ create_table_as(False, made, sql) }}{%- endcall -%}
  {%- do run_query(get_rename_sql(made, this.identifier)) -%}
  {%- do run_query(create_table_as(False, again, sql)) -%}
  {%- do run_query(create_view_as(seen, sql)) -%}
  {%- do run_query(get_insert_into_sql(target_relation, again, adapter.get_columns_in_relation(again))) -%}
  {%- do run_query(get_insert_into_sql(again, target_relation)) -%}
  {%- do run_query(get_drop_sql(again)) -%}
  {%- do run_query(get_drop_sql(seen)) -%}
  {%- do persist_docs(target_relation, model) -%}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

{% materialization in_python, default, supported_languages=['python'] %}
  {%- call statement('main', language='python') -%}{{ compiled_code }}{%- endcall -%}
  {{ return({'relations': []}) }}
{% endmaterialization %}

{% materialization as_python, default, supported_languages=['python'] %}
  {%- do create_table_as(False, this, compiled_code, 'python') -%}
  {{ return({'relations': []}) }}
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

ROWS = "select * from values (date'2024-01-01', 1, 'a'), (date'2024-01-02', 2, null) as t(day, id, word)"
KEYED = "primary_key=['ID', 'day'], partition_by='DAY', bucket=2, tblproperties={'file.format': 'orc'}"
# name -> (config, part of the refusal)
REFUSED = {
    "misspelt": ("primary_keys='id'", "Did you mean 'primary_key'?"),
    "keyed_by_nothing": ("primary_key='nothing'", "nothing"),
    "audited": ("wap=true", "the materialization 'by_blocks' does not read it"),
    "contracted": ("contract={'enforced': true}", "This model has an enforced contract that failed"),
    "required": ("contract={'enforced': true}", "CREATE TABLE AS cannot declare it"),
}
PYTHON = "def model(dbt, session):\n    dbt.config(materialized='{}')\n    return session.range(1)\n"
YAML = """
models:
  - name: keyed
    description: "it's described"
    config: {persist_docs: {relation: true, columns: true}, contract: {enforced: true}}
    columns: [{name: id, data_type: int, description: the key}, {name: word, data_type: string}, {name: day, data_type: date}]
  - name: contracted
    columns: [{name: id, data_type: string}]
  - name: required
    columns:
      - {name: id, data_type: int}
      - {name: day, data_type: date}
      - {name: word, data_type: string, constraints: [{type: not_null}]}
"""


class _Package:
    @pytest.fixture(scope="class")
    def package_name(self):
        return "periods"

    @pytest.fixture(scope="class")
    def package_macros(self):
        return PACKAGE


class TestConfigsOfForeignMaterialization(_Package):
    @pytest.fixture(scope="class")
    def models(self):
        configs = {"plain": "", "keyed": KEYED, **{name: config for name, (config, _) in REFUSED.items()}}
        head = "{{{{ config(materialized='by_blocks', {}) }}}} "
        return {
            **{f"{name}.sql": head.format(config) + ROWS for name, config in configs.items()},
            **{f"{name}.py": PYTHON.format(name) for name in ("in_python", "as_python")},
            "properties.yml": YAML,
        }

    @pytest.mark.usefixtures("project", "installed")
    def test_config_is_used_or_refused(self, rows):
        results = {result.node.name: result for result in run_dbt(["run"], expect_pass=False)}
        built = {name for name, result in results.items() if result.status == "success"}
        refused = {name: part for name, (_, part) in REFUSED.items()}
        refused |= dict.fromkeys(("in_python", "as_python"), "cannot run a Python model")
        assert built == {"plain", "keyed"}, [result.message for result in results.values()]
        assert {name for name, part in refused.items() if part not in results[name].message} == set()
        assert {name for _, name, *_ in rows("show tables in {schema}")} - {"_dbt_views"} == built

        # A view that a materialization has dropped is not remembered.
        assert "seen" not in str(rows("show tblproperties {schema}._dbt_views"))
        # Without a key, the rows of three writes; with a key, one of each, in the contract's order.
        assert rows("select count(*), count(distinct id) from {schema}.plain") == [(6, 2)]
        assert rows("select id, word from {schema}.keyed order by id") == [(1, "a"), (2, None)]
        described: dict[str, tuple[str, str]] = {}
        for name, kind, comment in rows("describe table extended {schema}.keyed"):
            # Spark 4.1 lists the NOT NULL columns again.
            described.setdefault(name, (kind, comment))
        assert [name for name in described if name in ("id", "word", "day")] == ["id", "word", "day"]
        assert described["id"] == ("int", "the key")
        assert described["Comment"][0] == "it's described"
        assert "# Partition Information" in described
        options = dict(rows("select key, value from {schema}.`keyed$options`"))
        assert (options["bucket"], options["file.format"]) == ("2", "orc")


class TestForeignMaterialization(_Package):
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
