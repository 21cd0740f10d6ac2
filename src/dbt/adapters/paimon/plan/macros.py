"""Calls macros in a node's own context, so that a project can override them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from dbt.adapters.paimon.plan.steps import Step
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.tables.existing import ExistingColumn
from dbt.adapters.paimon.writing.statement_result import StatementResult


@dataclass(frozen=True)
class Macros:
    """The macros of a node; `context` is dbt's context of its materialization."""

    context: Mapping[str, Any]

    @property
    def node(self) -> Mapping[str, Any]:
        """The node in the manifest."""
        return cast("Mapping[str, Any]", self.context["model"])

    def config(self, name: str) -> Any:
        """A value of the node's config, or None."""
        return self.context["config"].get(name)

    def __call__(self, name: str, /, *arguments: Any, **more: Any) -> Any:
        """Call a macro and return its result."""
        return self.context[name](*arguments, **more)

    def sql(self, name: str, /, *arguments: Any, **more: Any) -> str:
        """Call a macro that renders SQL."""
        return str(self(name, *arguments, **more))

    def statement(self, name: str, sql: str) -> None:
        """Run a statement with dbt's `statement` macro."""
        self("statement", name, caller=lambda: sql)

    def save(self, sql: str) -> None:
        """Write the node's SQL to its file under target/run."""
        self("write", sql)

    def store(self, written: StatementResult) -> None:
        """Store the result of the node's main statement."""
        self("store_result", "main", response=written.response, agate_table=written.table)

    def log(self, text: str) -> None:
        """Show a line on the console."""
        self("log", text, info=True)

    def alter(self, target: PaimonRelation, steps: Iterable[Step]) -> None:
        """Run the steps of a plan that alter a table, or a branch of it."""
        for step in steps:
            for words in step.alters:
                self.log(f"{target} is altered: {words}")
            self(step.macro, target, **step.arguments)

    @property
    def comment(self) -> str:
        """The comment of the node's table: its description, if `persist_docs` includes relations."""
        described: str = self.node.get("description") or ""
        return described if self.context["config"].persist_relation_docs() else ""

    def check_documented(self, target: PaimonRelation, columns: Iterable[ExistingColumn]) -> None:
        """Warn, as dbt does, about documented columns that the node does not return."""
        if self.node.get("columns") and self.context["config"].persist_column_docs():
            names = [column.name for column in columns]
            self("validate_doc_columns", target, self.node["columns"], names)
