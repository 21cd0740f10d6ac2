"""Runs dbt in this process on a project that is parsed once, and opens fresh Spark sessions to read its tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner
from dbt.contracts.graph.manifest import Manifest

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark import session
from dbt.adapters.paimon.spark.runtime import Runtime
from differential import project, values
from differential.plan import Batch, Plan


class Project:
    """A project that is parsed once; each command gets a copy of its manifest, because dbt changes it."""

    def __init__(self, root: Path, plans: Sequence[Plan], target: dict[str, Any], planted: dict[str, str]) -> None:
        self._root, self._target = root, target
        project.write(root, plans, target, {"operations.sql": project.OPERATIONS} | planted)
        self._manifest: Manifest = self._invoke(None, "parse", "--no-partial-parse").result
        self.session = self.fresh_session()
        self.session.sql(f"create schema if not exists paimon.{target['schema']}")

    def fresh_session(self) -> Any:
        """A new session in UTC, without cached tables."""
        fields = {key: value for key, value in self._target.items() if key not in ("type", "threads")}
        opened = session.open_session(Runtime(PaimonCredentials.from_dict(fields))).session
        opened.conf.set("spark.sql.session.timeZone", "UTC")
        return opened

    def build(self, names: Sequence[str], flags: Sequence[str] = ()) -> dict[str, tuple[bool, str]]:
        """Run models and snapshots; returns name -> (whether it succeeded, its message), without skipped ones."""
        done = self._invoke(self._manifest.deepcopy(), "build", "--select", *names, *flags)
        if done.result is None:
            raise RuntimeError(f"dbt build failed for {names}") from done.exception
        return {
            result.node.name: (result.status == "success", result.message or "")
            for result in done.result
            if result.status != "skipped"
        }

    def operate(self, model: str, name: str, arguments: dict[str, Any]) -> str:
        """Call a maintenance macro; returns the error, or ''."""
        return self._run_operation("differential_operation", {"name": name, "relation": model, "arguments": arguments})

    def statement(self, sql: str) -> str:
        """Run a statement as a macro or a hook does; returns the error, or ''."""
        return self._run_operation("differential_statement", {"sql": sql})

    def _run_operation(self, macro: str, args: dict[str, Any]) -> str:
        done = self._invoke(self._manifest.deepcopy(), "run-operation", macro, "--args", repr(args))
        if done.success:
            return ""
        return str(done.exception or [result.message for result in done.result.results])

    def give(self, plan: Plan, batch: Batch) -> None:
        """Make a model's query return this batch."""
        query = project.batch_query(batch)
        if plan.reads_source:
            table = f"paimon.{self._target['schema']}.{project.source_name(plan)}"
            self.session.sql(f"drop table if exists {table}")
            self.session.sql(f"create table {table} using paimon as {query}")
        else:
            self.session.sql(f"create or replace global temporary view {project.source_name(plan)} as {query}")

    def table(self, name: str) -> str:
        return f"paimon.{self._target['schema']}.{name}"

    def folder(self, name: str) -> Path:
        """The folder of a table's files."""
        return Path(self._target["warehouse"]) / f"{self._target['schema']}.db" / name

    def counts(self, name: str, conditions: Sequence[str]) -> list[int]:
        """The number of rows that meet each condition, each in its own SELECT, so that Paimon can skip files."""
        parts = (
            f"select {number} as at, count(*) as n from {self.table(name)} where {condition}"
            for number, condition in enumerate(conditions)
        )
        return [row["n"] for row in self.fresh_session().sql(" union all ".join(parts) + " order by at").collect()]

    def read(
        self, reader: Any, name: str, columns: dict[str, str] | None = None
    ) -> tuple[dict[str, str], list[tuple[str, ...]]] | None:
        """A table's columns (or these expressions) with types, and its rows as comparable values; None if no table."""
        table = self.table(name)
        if not reader.catalog.tableExists(table):
            return None
        frame = reader.table(table)
        if columns:
            frame = frame.selectExpr(*(f"{sql} as `{column}`" for column, sql in columns.items()))
        kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
        rows = frame.selectExpr(
            *(f"{values.shown(kind, f'`{column}`')} as c{at}" for at, (column, kind) in enumerate(kinds.items()))
        ).collect()
        return kinds, [
            tuple(
                values.comparable(kind, values.read(kind, text)) for kind, text in zip(kinds.values(), row, strict=True)
            )
            for row in rows
        ]

    def has_snapshots(self, name: str) -> bool:
        """Whether anything was ever committed to a table: a run without rows commits nothing."""
        snapshots = f"paimon.{self._target['schema']}.`{name}$snapshots`"
        return bool(self.fresh_session().sql(f"select 1 from {snapshots} limit 1").collect())

    def _invoke(self, manifest: Manifest | None, *args: str) -> Any:
        where = ("--project-dir", str(self._root), "--profiles-dir", str(self._root))
        quiet = ("--log-level", "none", "--log-level-file", "none", "--no-write-json", "--no-print")
        done = dbtRunner(manifest).invoke([*quiet, *args, *where])
        if done.result is None and done.exception is not None and args[0] == "parse":
            raise done.exception
        return done
