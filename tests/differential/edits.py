"""Deletes rows between two runs, as each kind of program does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from differential import conditions, values
from differential.dbt_runs import Project
from differential.plan import Operation, Plan
from differential.tables import Row, Table


def left(table: Table, where: list[Any]) -> list[Row]:
    """The remaining rows, for which a condition is not true."""
    return [row for row in table.rows if conditions.truth(where, row, table.kinds()) is not True]


def run(project: Project, plan: Plan, table: Table, operation: Operation) -> str:
    """Delete the rows that meet a condition; returns the error, or ''.

    `by` is what deletes: dbt's DELETE or MERGE, as in a hook; the macro `delete_rows`; another program's DELETE, its
    overwrite, or its rows of kind -D.
    """
    by, where = operation.arguments["by"], operation.arguments["where"]
    condition = conditions.sql(where, table.kinds())
    name = project.table(plan.name)
    if by == "delete_rows":
        return project.operate(plan.name, "delete_rows", {"where": condition})
    sql = _statement(by, name, condition, table, where)
    if by in ("hook", "merge"):
        return project.statement(sql)
    try:
        project.fresh_session().sql(sql)
    except Exception as error:  # noqa: BLE001 - whatever Spark says
        return str(error)
    return ""


def _statement(by: str, name: str, condition: str, table: Table, where: list[Any]) -> str:
    gone = [row for row in table.rows if conditions.truth(where, row, table.kinds()) is True]
    if by == "merge":
        return (
            f"merge into {name} as d using (select id as gone from {name} where {condition}) as s "
            "on d.id = s.gone when matched then delete"
        )
    if by == "overwrite":
        return f"insert overwrite {name} {_rows(table.kinds(), left(table, where))}"
    if by == "row kind":
        return f"insert into {name} {_rows(table.kinds(), [{**row, 'op': '-D'} for row in gone])}"
    return f"delete from {name} where {condition}"


def _rows(kinds: Mapping[str, str], rows: Sequence[Row]) -> str:
    if not rows:
        nulls = ", ".join(f"cast(null as {kind})" for kind in kinds.values())
        return f"select {nulls} where false"
    texts = ("(" + ", ".join(values.literal(kind, row[name]) for name, kind in kinds.items()) + ")" for row in rows)
    return f"values {', '.join(texts)}"
