"""Record the statements that a run sends to Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

_COMMENT = re.compile(r"^\s*/\*.*?\*/\s*", re.DOTALL)
_CHANGING = re.compile(
    r"^(alter|insert|merge|delete|update|truncate|call|comment|(create|drop)( or replace)? table)\b",
    re.IGNORECASE,
)


class Sent:
    """The statements that Spark received, without dbt's leading comment."""

    def __init__(self) -> None:
        self.all: list[str] = []

    def clear(self) -> None:
        """Forget the statements so far."""
        self.all.clear()

    @property
    def changing(self) -> list[str]:
        """The statements that change a table: DDL and DML."""
        return [statement for statement in self.all if _CHANGING.match(statement)]

    @property
    def ddl(self) -> list[str]:
        """The statements that change a table, except INSERT and MERGE."""
        return [s for s in self.changing if not re.match(r"^(insert|merge)\b", s, re.IGNORECASE)]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sent]:
    """Every statement that Spark receives from here on."""
    found = Sent()
    spark_sql = SparkSession.sql

    def recorded(session, query, *args, **kwargs):
        found.all.append(" ".join(_COMMENT.sub("", query).split()))
        return spark_sql(session, query, *args, **kwargs)

    monkeypatch.setattr(SparkSession, "sql", recorded)
    yield found
    monkeypatch.undo()
