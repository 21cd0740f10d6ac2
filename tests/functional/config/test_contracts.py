"""A model that breaks its contract fails, others are built; constraints that Paimon lacks only cause warnings."""

from __future__ import annotations

import json

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

from dbt.adapters.paimon.sql.data_types import is_nullable

YAML = """
models:
  - name: matching
    config: {contract: {enforced: true}, materialized: table}
    constraints:
      - {type: primary_key, columns: [id, part]}
      - {type: not_null, columns: [told]}
      - {type: unique, columns: [word]}
      - {type: custom, expression: "default 1"}
    columns:
      - {name: part, data_type: string}
      - {name: id, data_type: integer}
      - {name: word, data_type: varchar(5), constraints: [{type: check, expression: "word <> ''"}]}
      - {name: told, data_type: "decimal(10,2)"}
      - {name: maybe, data_type: "array<string>"}
  - name: other_type
    config: {contract: {enforced: true}, materialized: table}
    columns: [{name: id, data_type: integer}, {name: n, data_type: string}]
  - name: other_columns
    config: {contract: {enforced: true}, materialized: incremental, on_schema_change: append_new_columns}
    columns: [{name: id, data_type: integer}, {name: missing_in_sql, data_type: string}]
  - name: no_such_type
    config: {contract: {enforced: true}, materialized: table}
    columns: [{name: id, data_type: integer}, {name: n, data_type: text}]
  - name: type_with_digits
    config: {contract: {enforced: true}, materialized: table}
    columns: [{name: id, data_type: integer}, {name: n, data_type: timestamp(3)}]
  - name: view_of_other_type
    config: {contract: {enforced: true}, materialized: view}
    columns: [{name: id, data_type: integer}, {name: n, data_type: date}]
  - name: null_in_required
    config: {contract: {enforced: true}, materialized: table}
    columns:
      - {name: id, data_type: integer, constraints: [{type: not_null}]}
      - {name: n, data_type: integer}
"""
MATCHING = """
select 1 as id, 'a' as part, cast('abc' as string) as word, cast(1.5 as decimal(10,2)) as told, array('x') as maybe
"""


class TestContracts:
    @pytest.fixture(scope="class")
    def models(self):
        two = "select 1 as id, 2 as n"
        return {
            "contracts.yml": YAML,
            "matching.sql": MATCHING,
            "other_type.sql": two,
            "other_columns.sql": two,
            "no_such_type.sql": two,
            "type_with_digits.sql": two,
            "view_of_other_type.sql": two,
            "null_in_required.sql": "select cast(null as int) as id, 2 as n",
        }

    def test_what_does_not_match_ends_its_node(self, project, rows):
        results, log = run_dbt_and_capture(["run"], expect_pass=False)
        messages = {result.node.name: result.message for result in results if result.status == "error"}
        assert {r.node.name for r in results if r.status == "success"} == {"matching"}
        for node, said in {
            "other_type": ["n ", "int", "string", "data type mismatch"],
            "other_columns": ["missing_in_sql", "missing in definition", "missing in contract"],
            "no_such_type": ["TEXT", " n"],
            "type_with_digits": ["columns.n.data_type='timestamp(3)'", "Write timestamp, or timestamp_ntz"],
            "view_of_other_type": ["n ", "int", "date", "data type mismatch"],
            "null_in_required": ["Cannot write null to non-null column(id)"],
        }.items():
            # `type_with_digits` is refused before any SQL, so its message names the model instead of the file.
            assert f"models/{node}.sql" in messages[node] or "model 'type_with_digits'" in messages[node]
            assert all(part in messages[node] for part in said), messages[node]
        assert {row[1] for row in rows("show tables in {schema}")} == {"matching"}
        for kind in ("check", "unique", "custom"):
            assert f"constraint type {kind} is not supported" in log

    def test_what_matches_is_in_the_table(self, project, rows):
        run_dbt(["run", "--select", "matching"])
        described = {row[0]: row[1] for row in rows("describe {schema}.matching")}
        assert list(described)[:5] == ["part", "id", "word", "told", "maybe"]
        assert described["word"] == "varchar(5)" and described["told"] == "decimal(10,2)"
        fields, keys = rows(
            "select fields, primary_keys from {schema}.`matching$schemas` order by schema_id desc limit 1"
        )[0]
        assert keys == '["id","part"]'
        required = {field["name"] for field in json.loads(fields) if not is_nullable(field["type"])}
        assert required == {"id", "part", "told"}

    def test_a_text_that_is_too_long_changes_nothing(self, project, rows):
        before = rows("select * from {schema}.matching")
        write_file(MATCHING.replace("'abc'", "'longer than five'"), project.project_root, "models", "matching.sql")
        (result,) = run_dbt(["run", "--select", "matching"], expect_pass=False)
        assert "longer than 5 characters" in result.message
        assert rows("select * from {schema}.matching") == before
