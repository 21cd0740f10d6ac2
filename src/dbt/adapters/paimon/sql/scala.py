"""Converts Scala values from py4j."""

from __future__ import annotations

from typing import Any


def elements(sequence: Any) -> list[Any]:
    """The elements of a Scala sequence as a list."""
    return [sequence.apply(index) for index in range(sequence.size())]
