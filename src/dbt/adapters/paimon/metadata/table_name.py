"""Names of tables, for Spark and for Paimon's own classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dbt.adapters.paimon.sql.text import quoted

# Runs a statement and returns its rows.
Query = Callable[[str], Sequence[Any]]


class Table(Protocol):
    """A table that has system tables: a relation or a TableName."""

    def system_table(self, name: str) -> str:
        """The rendered name of a system table."""


@dataclass(frozen=True)
class TableName:
    """A table's catalog, schema and name, without backticks."""

    catalog: str
    schema: str
    identifier: str

    @classmethod
    def of(cls, parts: Sequence[str], catalog: str, schema: str) -> TableName:
        """A name as written in SQL: `t`, `s.t` or `c.s.t`; `catalog` and `schema` are those of the session."""
        return cls(*((catalog, schema)[: max(3 - len(parts), 0)] + tuple(parts))[-3:])

    @property
    def rendered(self) -> str:
        """Its name in SQL."""
        return quoted(self.catalog, self.schema, self.identifier)

    @property
    def shown(self) -> str:
        """Its name in messages: `schema.table`."""
        return f"{self.schema}.{self.identifier}"

    def system_table(self, name: str) -> str:
        """The rendered name of one of its system tables."""
        return quoted(self.catalog, self.schema, f"{self.identifier}${name}")
