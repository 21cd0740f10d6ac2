"""The structure of a view's query, as far as a refresh needs it (see `analyzer`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental
from dbt.adapters.paimon.sql.text import edited, quoted


@dataclass(frozen=True)
class SourceColumns:
    """A table that a query may read: its columns with their Spark types, and its primary key.

    Column names are spelled as in the catalog, and compared ignoring case.
    """

    name: TableName
    columns: Mapping[str, str]
    primary_key: tuple[str, ...] = ()


@dataclass(frozen=True)
class Read:
    """One occurrence of a table in the SQL of a query."""

    table: SourceColumns
    start: int
    end: int
    aliased: bool


@dataclass(frozen=True)
class Join:
    """A table that is joined on its whole primary key, so that each driving row has at most one match.

    Attributes:
        read: the index of its `Read`.
        keys: its key column -> the driving table's column that it is compared with.
    """

    read: int
    keys: Mapping[str, str]


@dataclass(frozen=True)
class Branch:
    """A query, or a branch of a UNION ALL, with one driving table: each driving row yields at most one row.

    Attributes:
        driver: the index of the driving table's `Read`.
        keys: output column -> the key column of the driving table that it copies.
        constants: output column -> the SQL of its literal.
    """

    driver: int
    joins: tuple[Join, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Query:
    """A query over Paimon tables.

    Attributes:
        sql: its SQL, with views replaced by their queries.
        groups: the output columns that it groups by; None without grouping. DISTINCT groups by all columns.
        key: its key columns; empty if its table cannot have a key.
        keeps_rows: whether each driving row yields exactly one row (no filter, no inner join).
        having: the (start, end) of its HAVING clauses.
        refusal: why it cannot be refreshed incrementally; None if it can.
    """

    sql: str
    reads: tuple[Read, ...]
    branches: tuple[Branch, ...] = ()
    groups: tuple[str, ...] | None = None
    key: tuple[str, ...] = ()
    keeps_rows: bool = False
    having: tuple[tuple[int, int], ...] = ()
    refusal: NotIncremental | None = None

    @property
    def tables(self) -> tuple[SourceColumns, ...]:
        """The distinct tables that it reads."""
        return tuple({read.table.name: read.table for read in self.reads}.values())

    def spliced(self, put: Mapping[int, str], *, without_having: bool = False) -> str:
        """The SQL with replaced tables; `put`: index of a `Read` -> a table's name, or a query in parentheses."""
        # A CTE that is used twice has several reads with one span.
        edits = {
            read.start: (read.start, read.end, _named(text, read))
            for number, read in enumerate(self.reads)
            if (text := put.get(number)) is not None
        }
        clauses = [(start, end, "") for start, end in self.having] if without_having else []
        return edited(self.sql, [*edits.values(), *clauses])


def _named(text: str, read: Read) -> str:
    """The text that replaces a table, with the table's name as its alias unless the query has an alias."""
    return text if read.aliased else f"{text} as {quoted(read.table.name.identifier)}"
