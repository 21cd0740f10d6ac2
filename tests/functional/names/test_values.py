"""Seed cells, partition values, tags, options, comments and hook arguments are read back as they were written."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml
from dbt.tests.util import run_dbt
from hypothesis import example, given
from tests.functional.names.texts import (
    CURATED,
    FEW,
    TEXTS,
    columns_of,
    folded,
    jinja,
    some,
    write_project,
    yaml_text,
)

from dbt.adapters.paimon.sql.names import column_problems, tag_problem
from dbt.adapters.paimon.sql.text import quoted, string_literal

PARTITIONED = """
{{ config(
    materialized='incremental', incremental_strategy='insert_overwrite', partition_by='cell',
    post_hook="{{ compact(this, partitions=var('partitions')) }}"
) }}
select cell, number, {{ var('run') }} as run from {{ ref('cells') }}
{% if is_incremental() %} where number % 2 = 0 {% endif %}
"""
KEYED = """
{{ config(materialized='incremental', primary_key=['cell', 'number'], partition_by='cell', bucket=1) }}
select cell, number, {{ var('run') }} as run from {{ ref('cells') }}
"""


def csv_text(header: list[str], rows: list[list[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


class TestSeeds:
    @FEW
    @example(CURATED)
    @given(some(TEXTS, 10))
    def test_headers_cells_and_partitions(self, project, ask, texts):
        # dbt reads `null` and blanks as NULL, and any line ending in a cell as a newline.
        cells = [text.replace("\r", " ") for text in texts if folded(text) not in ("null", "")]
        header = columns_of([cell.strip() for cell in cells if not column_problems([cell])])
        header = list({folded(name): name for name in header}.values())
        wide = csv_text(header, [cells[: len(header)]])
        rows = [[i, cell] for i, cell in enumerate(cells)]
        seeds = {"cells.csv": csv_text(["number", "cell"], rows), "wide.csv": wide}
        types = dict.fromkeys(header, "string")
        write_project(project.project_root, "seeds", seeds)
        write_project(
            project.project_root,
            "models",
            {
                "partitioned.sql": PARTITIONED,
                "keyed.sql": KEYED,
                "seeds.yml": {
                    "version": 2,
                    "seeds": [
                        {"name": "cells", "config": {"column_types": {"cell": "string"}}},
                        {"name": "wide", "config": {"column_types": types}},
                    ],
                },
            },
        )
        partitions = [{"cell": cell} for cell in cells]
        for run in (1, 2):
            run_dbt(["build", "--vars", yaml.safe_dump({"run": run, "partitions": partitions})])

        def table(name):
            return quoted("paimon", project.test_schema, name)

        assert ask(f"select cell from {table('cells')} order by number") == [(cell,) for cell in cells]
        assert ask(f"select {', '.join(map(quoted, header))} from {table('wide')}") == [tuple(cells[: len(header)])]
        written = [(cell, i, 2 if i % 2 == 0 else 1) for i, cell in enumerate(cells)]
        assert ask(f"select cell, number, run from {table('partitioned')} order by number") == written
        assert ask(f"select cell, number, run from {table('keyed')} order by number") == [
            (cell, i, 2) for i, cell in enumerate(cells)
        ]
        for i, cell in enumerate(cells):
            where = f"where cell = {string_literal(cell)}"
            assert ask(f"select number from {table('partitioned')} {where}") == [(i,)]
        for name in ("cells", "wide", "partitioned", "keyed"):
            ask(f"drop table {table(name)}")

    def test_values_that_are_like_no_value(self, project, ask):
        """Partitions of NULL, blanks and Paimon's default name share a folder; overwriting one keeps the others."""
        values = ["cast(null as string)", "''", "' '", "'__DEFAULT_PARTITION__'", "'null'"]
        query = " union all ".join(f"select {i} as id, {value} as part" for i, value in enumerate(values))
        config = "materialized='incremental', incremental_strategy='insert_overwrite', partition_by='part'"
        sql = (
            f"{{{{ config({config}) }}}} select id, part, {{{{ var('run') }}}} as run from ({query}) "
            "{% if is_incremental() %} where id = {{ var('run') }} {% endif %}"
        )
        write_project(project.project_root, "seeds", {})
        write_project(project.project_root, "models", {"alike.sql": sql})
        run_dbt(["run", "--vars", "run: 99"])
        table = quoted("paimon", project.test_schema, "alike")
        expected = [(i, 99) for i in range(len(values))]
        for run in range(len(values)):
            run_dbt(["run", "--vars", f"run: {run}"])
            expected[run] = (run, run)
            assert ask(f"select id, run from {table} order by id") == expected

    def test_a_value_that_no_folder_is_named_after(self, project, ask):
        sql = "{{ config(materialized='table', partition_by='part') }} select 1 as id, repeat('x', 300) as part"
        write_project(project.project_root, "seeds", {})
        write_project(project.project_root, "models", {"long.sql": sql})
        (result,) = run_dbt(["run"], expect_pass=False)
        assert "file systems limit names to 255 bytes" in result.message
        assert "\tat " not in result.message
        assert "long" not in str(ask(f"show tables in {quoted('paimon', project.test_schema)}"))


def tagged(number: int, *hooks: str) -> str:
    config = f"materialized='table', post_hook=[{', '.join(map(jinja, hooks))}]"
    return f"{{{{ config({config}) }}}} select {number} as id"


def hook(macro: str, argument: str) -> str:
    return f"{{{{ {macro}(this, {jinja(argument)}) }}}}"


@pytest.mark.full
class TestTagsAndHooks:
    @FEW
    @example([*CURATED, "a:b", "a,b", "a/b", "12", "a\0b", "x" * 260])
    @given(some(TEXTS, 10))
    def test_tags(self, project, ask, names):
        good = [name for name in names if not tag_problem(name)]
        hooks = [hook("create_tag", name) for name in good]
        models = {"tagged.sql": tagged(1, *hooks)}
        models |= {
            f"bad{i}.sql": tagged(1, hook("create_tag", name)) for i, name in enumerate(names) if name not in good
        }
        write_project(project.project_root, "models", models)
        results = run_dbt(["run"], expect_pass=len(models) == 1)
        for result in results:
            if result.node.name == "tagged":
                assert result.status == "success"
            else:
                name = names[int(result.node.name.removeprefix("bad"))]
                assert tag_problem(name) in result.message
                tags = quoted("paimon", project.test_schema, f"{result.node.name}$tags")
                assert ask(f"select tag_name from {tags}") == []
        tags = quoted("paimon", project.test_schema, "tagged$tags")
        table = quoted("paimon", project.test_schema, "tagged")
        assert {row[0] for row in ask(f"select tag_name from {tags}")} == set(good)
        for name in good:
            assert ask(f"select * from {table} version as of {string_literal(name)}") == [(1,)]
        gone, kept = good[::2], good[1::2]
        hooks = [hook("delete_tag", name) for name in gone]
        hooks += [hook("rollback_to", name) for name in kept[:1]]
        write_project(
            project.project_root,
            "models",
            {"tagged.sql": tagged(2, *hooks)},
        )
        run_dbt(["run"])
        assert {row[0] for row in ask(f"select tag_name from {tags}")} == set(kept)
        assert ask(f"select * from {table}") == [(1 if kept else 2,)]
        ask(f"drop table {table}")


# An option that takes any text and that nothing reads.
FREE_OPTION = "commit.callback.nobody.param"


def aggregated(text: str) -> str:
    fields = "{'word': {'aggregate_function': 'listagg'}}"
    config = f"materialized='incremental', primary_key='id', merge_engine='aggregation', fields={fields}, "
    config += f"tblproperties={{'{FREE_OPTION}': {jinja(text)}}}"
    # The second Jinja call matters: with config() alone, dbt's static parser does not resolve escapes.
    return f"{{{{ config({config}) }}}} select 1 as id, {{{{ adapter.string_literal('a') }}}} as word"


class TestOptionsAndComments:
    @FEW
    @example(CURATED)
    @given(some(TEXTS, 10))
    def test_written_altered_and_shown(self, project, ask, texts):
        # The adapter strips blanks from options (Paimon does not), and dbt from descriptions.
        texts = [text.strip() or "blank" for text in texts]
        for run in range(2):
            shifted = texts[run:] + texts[:run]
            models = {f"m{i}.sql": aggregated(text) for i, text in enumerate(shifted)}
            models["models.yml"] = {
                "version": 2,
                "models": [
                    {
                        "name": f"m{i}",
                        "description": yaml_text(text),
                        "config": {"persist_docs": {"relation": True, "columns": True}},
                        "columns": [{"name": "word", "description": yaml_text(text)}],
                    }
                    for i, text in enumerate(shifted)
                ],
            }
            write_project(project.project_root, "models", models)
            run_dbt(["run"])
            for i, text in enumerate(shifted):
                schemas = quoted("paimon", project.test_schema, f"m{i}$schemas")
                ((fields, options, comment),) = ask(
                    f"select fields, options, comment from {schemas} order by schema_id desc limit 1"
                )
                described = {field["name"]: field.get("description") for field in json.loads(fields)}
                assert json.loads(options)[FREE_OPTION] == text
                assert (comment, described["word"]) == (text, text)
                words = "a" if run == 0 else "a,a"
                assert ask(f"select word from {quoted('paimon', project.test_schema, f'm{i}')}") == [(words,)]
        for i in range(len(texts)):
            ask(f"drop table {quoted('paimon', project.test_schema, f'm{i}')}")
