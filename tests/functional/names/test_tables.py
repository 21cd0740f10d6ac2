"""A table has exactly its model's name, or its node fails with the reason and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.tests.util import run_dbt
from hypothesis import example, given
from tests.functional.conftest import CONNECTOR
from tests.functional.names.texts import CURATED, FEW, TEXTS, jinja, some, write_project

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.sql import names as rules
from dbt.adapters.paimon.sql.text import quoted

KINDS = [
    "materialized='table'",
    "materialized='table', primary_key='id', bucket=1",
    "materialized='incremental', primary_key='id', incremental_strategy='merge'",
    "materialized='incremental', post_hook='{{ compact(this) }}'",
]
# name -> part of the message
REFUSED = {
    "a/b": "'/'",
    "../b": "'/'",
    "a:b": "':'",
    "a$snapshots": "'$'",
    "a\0b": "'\\x00'",
    ".": "folder",
    "..": "folder",
    "_dbt_views": "views",
    "good__dbt_tmp": "'good'",
    "good__dbt_backup": "'good'",
    "good__dbt_changes": "'good'",
    "good__dbt_deletes": "'good'",
    "é" * 125: "bytes",
}


ANY_TEXT = Versions.of(CONNECTOR).supports(Capability.TABLE_NAMES_OF_ANY_TEXT)


def table_problem(name: str) -> str:
    """Why a table name is refused with this connector; '' if it is not."""
    return rules.table_problem(name) or ("" if ANY_TEXT else rules.pattern_problem(name))


def schema_problem(name: str) -> str:
    """Why a schema name is refused with this connector; '' if it is not."""
    return rules.schema_problem(name) or ("" if ANY_TEXT else rules.pattern_problem(name))


def model(name: str, kind: str, number: int, schema: str = "") -> str:
    schema = f", schema={jinja(schema)}" if schema else ""
    return (
        f"{{{{ config({kind}, alias={jinja(name)}{schema}) }}}}\n"
        f"select {number} as id, {{{{ adapter.string_literal({jinja(name)}) }}}} as name"
    )


def run(succeeding: set[str], nodes: int) -> dict[str, str]:
    """Run dbt and check that exactly these nodes succeed; returns the messages of the others, by name."""
    results = run_dbt(["run"], expect_pass=len(succeeding) == nodes)
    assert {r.node.name for r in results if r.status == "success"} == succeeding
    return {r.node.name: r.message for r in results if r.status != "success"}


def children(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


class TestTables:
    @FEW
    @example([*CURATED, *REFUSED])
    @given(some(TEXTS, 10))
    def test_tables(self, project, ask, warehouse, names):
        # dbt strips blanks from an alias.
        names = [name.strip() or "blank" for name in names]
        models = {f"m{i}.sql": model(name, KINDS[i % len(KINDS)], i) for i, name in enumerate(names)}
        write_project(project.project_root, "models", models)
        good = {f"m{i}": name for i, name in enumerate(names) if not table_problem(name)}
        for _ in range(2):
            messages = run(set(good), len(names))
            for i, name in enumerate(names):
                if f"m{i}" not in good:
                    assert table_problem(name) in messages[f"m{i}"]
                    assert REFUSED.get(name, "") in messages[f"m{i}"]
        folder = warehouse / f"{project.test_schema}.db"
        assert children(folder) == set(good.values())
        for i, name in enumerate(names):
            if f"m{i}" in good:
                table = quoted("paimon", project.test_schema, name)
                assert ask(f"select * from {table}") == [(i, name)] * (2 if i % len(KINDS) == 3 else 1)
                ask(f"drop table {table}")
        assert children(folder) == set()

    @FEW
    @example(CURATED)
    @given(some(TEXTS, 8))
    @pytest.mark.full
    def test_schemas(self, project, ask, warehouse, names):
        names = [name.strip() or "blank" for name in names]
        # dbt's query comment contains the schema, and dbt does not allow */ there.
        names = [name.replace("*/", "*") for name in names]
        schemas = [f"{project.test_schema}_{name}" for name in names]
        before = children(warehouse)
        models = {f"m{i}.sql": model("t", KINDS[i % len(KINDS)], i, schema) for i, schema in enumerate(names)}
        write_project(project.project_root, "models", models)
        good = {f"m{i}": schema for i, schema in enumerate(schemas) if not schema_problem(schema)}
        for _ in range(2):
            messages = run(set(good), len(names))
            for i, schema in enumerate(schemas):
                assert f"m{i}" in good or schema_problem(schema) in messages[f"m{i}"]
        assert children(warehouse) - before == {f"{schema}.db" for schema in good.values()}
        for i, schema in enumerate(schemas):
            if f"m{i}" in good:
                expected = [(i, "t")] * (2 if i % len(KINDS) == 3 else 1)
                assert ask(f"select * from {quoted('paimon', schema, 't')}") == expected
                ask(f"drop database {quoted('paimon', schema)} cascade")
