"""In every materialization, columns have exactly the model's names, and their comments are as written."""

from __future__ import annotations

import json
from itertools import product

import pytest
from dbt.tests.util import run_dbt
from hypothesis import example, given, settings
from tests.functional.names.texts import (
    CURATED,
    FEW,
    TEXTS,
    columns_of,
    jinja,
    some,
    write_project,
    yaml_text,
)

from dbt.adapters.paimon.sql.text import quoted, string_literal

CONFIGS = {
    "replaced": "materialized='table'",
    "appended": "materialized='incremental', incremental_strategy='append', on_schema_change='append_new_columns'",
    "merged": "materialized='incremental', primary_key='id', incremental_strategy='merge', on_schema_change='sync_all_columns'",
    "upserted": "materialized='incremental', primary_key='id', bucket=1, on_schema_change='append_new_columns'",
    "replacing": "materialized='incremental', primary_key='id', incremental_strategy='delete+insert', unique_key='id', on_schema_change='append_new_columns'",
    "contracted": "materialized='table', contract={'enforced': true}",
}


def query(names: list[str], suffix: str) -> str:
    """A query with one text column per name; its value is the name and a suffix."""
    columns = [
        f"{{{{ adapter.string_literal({jinja(name + suffix)}) }}}} as {{{{ adapter.quote({jinja(name)}) }}}}"
        for name in names
    ]
    return ",\n".join(["select 1 as id", *columns])


def snapshot(names: list[str], suffix: str) -> str:
    config = "unique_key='id', strategy='check', check_cols='all'"
    return f"{{% snapshot versions %}}{{{{ config({config}) }}}}\n{query(names, suffix)}\n{{% endsnapshot %}}"


def properties(names: list[str]) -> dict:
    """The models' properties: a comment for each column, and not_null tests for three columns of `replaced`."""
    described = [
        {
            "name": yaml_text(name),
            "quote": True,
            "description": yaml_text(comment(name)),
            "data_type": "string",
        }
        for name in names
    ]
    tests = {"replaced": {"data_tests": ["not_null"]}}
    return {
        "version": 2,
        "models": [
            {
                "name": model,
                "config": {"persist_docs": {"columns": True}},
                "columns": [{"name": "id", "data_type": "int"}]
                + [column | (tests.get(model, {}) if i < 3 else {}) for i, column in enumerate(described)],
            }
            for model in CONFIGS
        ],
    }


def comment(name: str) -> str:
    return f"of {name} !"


REFUSED = {
    "blank": ("select 1 as `  `", "cannot be empty"),
    "paimons": ("select 1 as _KEY_a, 2 as _VALUE_KIND", "Paimon reserves this name"),
    "twice": ("select 1 as a, 2 as A", "'a', 'A' have the same name"),
}


class TestColumns:
    @settings(FEW, max_examples=1)
    @example(CURATED)
    @given(some(TEXTS, 8))
    def test_columns(self, project, ask, names):
        names = columns_of(names)
        first = names[:-1]
        for suffix, columns in (("!", first), ("", names)):
            models = {
                f"{name}.sql": f"{{{{ config({config}) }}}}\n{query(columns, suffix)}"
                for name, config in CONFIGS.items()
            }
            write_project(project.project_root, "models", models | {"models.yml": properties(columns)})
            write_project(project.project_root, "snapshots", {"versions.sql": snapshot(columns, suffix)})
            run_dbt(["build"])
        for name in (*CONFIGS, "versions"):
            table = quoted("paimon", project.test_schema, name)
            columns = ", ".join(quoted(column) for column in names)
            found = set(ask(f"select {columns} from {table}"))
            assert tuple(names) in found
            if name in ("appended", "versions"):
                assert (*(f"{column}!" for column in first), None) in found
            else:
                assert len(found) == 1
            fields = ask(
                f"select fields from {quoted('paimon', project.test_schema, f'{name}$schemas')} order by schema_id desc"
            )[0][0]
            written = {field["name"]: field.get("description") for field in json.loads(fields)}
            assert set(names) <= set(written)
            if name != "versions":
                assert {column: written[column] for column in names} == {c: comment(c) for c in names}
            ask(f"drop table {table}")

    def test_what_cannot_be(self, project, ask):
        write_project(
            project.project_root,
            "models",
            {f"{name}.sql": "{{ config(materialized='table') }} " + sql for name, (sql, _) in REFUSED.items()},
        )
        write_project(project.project_root, "snapshots", {})
        results = run_dbt(["run"], expect_pass=False)
        for result in results:
            assert REFUSED[result.node.name][1] in result.message
            assert f"'{result.node.name}'" in result.message
        assert ask(f"show tables in {quoted('paimon', project.test_schema)}") == []

    @pytest.mark.full
    def test_names_in_files_of_other_formats(self, project, ask):
        """A model with a column name that ORC or Avro cannot store fails; the other tables can be read."""
        names = [*columns_of(["a`b"]), "a b", "a.b", "it's", "1a", "Éa", "a😀", "${x}", "select"]
        borne = {"parquet": names, "orc": [n for n in names if "`" not in n], "avro": ["Éa", "select"]}
        shapes = {
            "plain": "7 as {quoted}",
            "nested": "array(named_struct('x', 1, {literal}, 7)) as word",
        }
        models, expected = {}, {}
        for file_format, (i, name), shape in product(borne, enumerate(names), shapes):
            model = f"{file_format}{i}_{shape}"
            column = shapes[shape].format(quoted=quoted(name), literal=string_literal(name))
            models[f"{model}.sql"] = (
                f"{{{{ config(materialized='table', file_format='{file_format}') }}}} select {column}"
            )
            expected[model] = quoted(name) if shape == "plain" else f"word[0].{quoted(name)}"
        write_project(project.project_root, "models", models)
        results = run_dbt(["run"], expect_pass=False)
        for result in results:
            model = result.node.name
            name = names[int(model.partition("_")[0][-1])]
            if name in borne[model.partition("_")[0][:-1]]:
                table = quoted("paimon", project.test_schema, model)
                assert ask(f"select {expected[model]} from {table}") == [(7,)], model
            else:
                assert result.status == "error" and f"'{name}'" in result.message, (model, result.message)

    def test_a_bucket_key_in_backticks(self, project, ask):
        """Paimon before 1.3 cannot read a table whose only bucket key needs backticks, so such a model fails."""
        names = ["a-b", "a.b", "é", "123", "1e5", "a b"]
        write_project(
            project.project_root,
            "models",
            {
                f"m{i}_{bucket}.sql": f"{{{{ config(materialized='table', primary_key={jinja(name)}, bucket={bucket}) }}}}"
                f"select 'x' as {quoted(name)}"
                for i, name in enumerate(names)
                for bucket in ("1", "-1")
            }
            | {"plain.sql": "{{ config(materialized='table', primary_key='1a', bucket=1) }} select 'x' as `1a`"},
        )
        results = run_dbt(["run"], expect_pass=None)
        for result in results:
            name = result.node.name
            if result.status == "success":
                assert ask(f"select * from {quoted('paimon', project.test_schema, name)}") == [("x",)]
            else:
                assert name.endswith("_1") and "bucket = -1" in result.message, result.message
        assert {r.node.name for r in results if r.status == "success"} >= {
            "plain",
            *(f"m{i}_-1" for i in range(len(names))),
        }
