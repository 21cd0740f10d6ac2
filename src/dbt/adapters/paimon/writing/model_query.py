"""The source of a model's rows: its query, or a temporary view."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import repeatable
from dbt.adapters.paimon.sql.data_types import typed_nulls
from dbt.adapters.paimon.sql.text import quoted, statements


@dataclass(frozen=True)
class ModelQuery:
    """SQL that can follow FROM or USING, and the columns that it returns.

    A query is put in parentheses into the statement that reads it, so a SQL model needs no temporary view.
    """

    text: str
    columns: tuple[PaimonColumn, ...]
    view: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def is_relation(self) -> bool:
        """Whether the SQL is the name of a relation, which DESCRIBE accepts."""
        return bool(self.view) and self.text == quoted(self.view)

    def selecting(self, selected: str) -> ModelQuery:
        """The same columns, computed from these rows by `selected`, the text after SELECT."""
        return replace(self, text=f"(select {selected} from {self})")

    def read_from(self, relation: PaimonRelation) -> ModelQuery:
        """The same rows, read from the relation that they have already been written to."""
        return replace(self, text=relation.render())


def seems_stable(query: ModelQuery) -> bool:
    """Whether a query returns the same rows each time, judging by its text."""
    return repeatable.seems_repeatable(query.text)


def is_stable_plan(explained: str) -> bool:
    """Whether a query returns the same rows each time, judging by the output of EXPLAIN EXTENDED.

    There, views are replaced with their queries. Only the optimizer's part may have a limit that the query lacks.
    """
    return repeatable.is_repeatable(explained.partition("== Optimized Logical Plan ==")[0])


def one_query(sql: str) -> str:
    """A model's SQL without a semicolon at its end; CompilationError if it has several statements."""
    found = statements(sql)
    if len(found) > 1:
        raise CompilationError(
            f"The node has {len(found)} statements, but dbt builds a table or view from one query. Put statements that "
            "run before or after it into `sql_header`, `pre_hook` or `post_hook`, and other queries into "
            "separate nodes."
        )
    return found[0]


def from_sql(sql: str, columns: tuple[PaimonColumn, ...]) -> ModelQuery:
    """The query of a SQL model; the parenthesis is on its own line, because the SQL may end with a comment."""
    return ModelQuery(f"(\n{sql}\n)", columns)


def with_typed_nulls(sql: str, columns: tuple[PaimonColumn, ...]) -> str:
    """Give each untyped NULL of a query a type."""
    if all(typed_nulls(column.dtype) == column.dtype for column in columns):
        return sql
    selected = ", ".join(
        f"cast({column.quoted} as {typed_nulls(column.dtype)}) as {column.quoted}" for column in columns
    )
    return f"select {selected}\nfrom {from_sql(sql, columns)}"
