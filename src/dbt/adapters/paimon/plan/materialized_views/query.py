"""What a view's query is made of, as far as its refresh needs to know. See `reading` for how it is found out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental


@dataclass(frozen=True)
class SourceColumns:
    """A table that a query may read: its columns with their Spark types, and its primary key.

    Column names are as in the catalog, and compared ignoring case.
    """

    name: TableName
    columns: Mapping[str, str]
    primary_key: tuple[str, ...] = ()


@dataclass(frozen=True)
class Read:
    """One place in the text of a query that reads a table."""

    table: SourceColumns
    start: int
    end: int
    aliased: bool


@dataclass(frozen=True)
class Join:
    """A table that the driving table is joined with on its whole primary key: at most one row per driving row.

    Attributes:
        read: the number of the place that reads it.
        keys: its key column -> the column of the driving table that it is compared with.
    """

    read: int
    keys: Mapping[str, str]


@dataclass(frozen=True)
class Branch:
    """Rows that one driving table gives, each row of it at most one; a UNION ALL has several.

    Attributes:
        driver: the number of the place that reads the driving table.
        keys: output column -> the column of the driving table's primary key that it is a copy of.
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
        sql: its text, with the queries of views in the place of their names.
        groups: the output columns that it groups by; None if it does not group. DISTINCT groups by all columns.
        key: the columns of its key; empty if it has no key that a table can have.
        keeps_rows: whether each driving row gives exactly one row (no filter, no inner join).
        having: the spans of the text of its HAVING clauses.
        refusal: why it cannot be refreshed by what changed; None if it can.
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
        """The tables that it reads, each once."""
        return tuple({read.table.name: read.table for read in self.reads}.values())

    @property
    def only_projects(self) -> bool:
        """Whether each output row comes from one row of one table: appended rows give appended rows."""
        return self.groups is None and not any(branch.joins for branch in self.branches)

    def spliced(self, put: Mapping[int, str], *, without_having: bool = False) -> str:
        """The text with something else in the place of table names.

        Args:
            put: the number of a place -> what is read there: a name, or a query in parentheses.
        """
        # A CTE that is used twice is one place in the text.
        edits = {
            read.start: (read.start, read.end, _named(text, read))
            for number, read in enumerate(self.reads)
            if (text := put.get(number)) is not None
        }
        clauses = [(start, end, "") for start, end in self.having] if without_having else []
        return edited(self.sql, [*edits.values(), *clauses])


def _named(text: str, read: Read) -> str:
    """What is read instead of a table, called by the table's name if the query gives it no other."""
    return text if read.aliased else f"{text} as `{read.table.name.identifier.replace('`', '``')}`"


def edited(sql: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """A text with some spans replaced; `edits`: start, end and the new text of each."""
    for start, end, text in sorted(edits, reverse=True):
        sql = f"{sql[:start]}{text}{sql[end:]}"
    return sql
