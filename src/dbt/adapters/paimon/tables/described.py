"""Reads the rows of DESCRIBE TABLE. Runs no statement."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any


def columns_of(described: Iterable[Any]) -> Iterable[Any]:
    """The rows of DESCRIBE TABLE that describe columns: name, type and comment."""
    # They end at a heading such as `# Partition Information`, which has no type.
    return takewhile(lambda row: row[0] and row[1], described)


def comments(described: Iterable[Any]) -> dict[str, str]:
    """The column comments, by column name, from the rows of DESCRIBE TABLE."""
    return {name: comment for name, _, comment, *_ in columns_of(described) if comment}
