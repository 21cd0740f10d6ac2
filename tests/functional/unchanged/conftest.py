"""Models that read one table, and a helper that runs them and returns which were reused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from query_rows import Rows

ON = "skip_unchanged=true"


def table(query: str, config: str = "") -> str:
    return f"{{{{ config(materialized='table', {ON}{config}) }}}}\n{query}"


def incremental(query: str, config: str = "") -> str:
    return f"{{{{ config(materialized='incremental', {ON}{config}) }}}}\n{query}"


class Runs:
    """Runs models and returns which were reused."""

    def __init__(self, project: Any, rows: Rows) -> None:
        self._project = project
        self._rows = rows

    def __call__(self, name: str, *arguments: str) -> bool:
        """Run a node; returns whether it was reused."""
        return name in self.reused(name, arguments=arguments)

    def reused(self, *names: str, arguments: Sequence[str] = ()) -> set[str]:
        """Run nodes in one command; returns those that were reused, without a new table snapshot."""
        before = {name: self.snapshot(name) for name in names}
        results = run_dbt(["build", "--select", *names, *arguments])
        assert sorted(result.node.name for result in results) == sorted(names)
        reused = set()
        for result in results:
            assert result.status == "success"
            assert (result.adapter_response["code"] == "REUSED") == result.message.startswith("REUSED: ")
            if result.adapter_response["code"] == "REUSED":
                name = result.node.name
                assert self.snapshot(name) == before[name] == result.adapter_response["snapshot_id"]
                assert result.adapter_response["reason"] in result.message
                reused.add(name)
        return reused

    def snapshot(self, name: str) -> int | None:
        """The id of a table's newest snapshot; None without a table or snapshot."""
        tables = {row[1] for row in self._rows("show tables in {schema}")}
        if name not in tables:
            return None
        ((newest,),) = self._rows(f"select max(snapshot_id) from {{schema}}.`{name}$snapshots`")
        return newest

    def write(self, name: str, sql: str) -> None:
        (Path(self._project.project_root) / "models" / f"{name}.sql").write_text(sql)


@pytest.fixture(scope="class")
def runs(project: Any, rows: Rows) -> Runs:
    return Runs(project, rows)


@pytest.fixture
def orders(rows: Rows) -> Callable[..., None]:
    """Function: create the table that the models read, or recreate it."""

    def make(values: str = "(1, 'a'), (2, 'b')", properties: str = "") -> None:
        rows("drop table if exists {schema}.orders")
        rows(f"create table {{schema}}.orders (id int, name string) using paimon {properties}")
        rows(f"insert into {{schema}}.orders values {values}")

    return make


SOURCE = {
    "version": 2,
    "sources": [{"name": "raw", "schema": "{{ target.schema }}", "tables": [{"name": "orders"}]}],
}
ORDERS = "select id, name from {{ source('raw', 'orders') }}"
