"""Choices that hypothesis makes, and shrinks towards the first option, the lowest number and False."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Chooser:
    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw = draw

    def pick(self, options: Sequence[T]) -> T:
        chosen: T = self._draw(st.sampled_from(list(options)))
        return chosen

    def number(self, low: int, high: int) -> int:
        chosen: int = self._draw(st.integers(low, high))
        return chosen

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def some(self, options: Sequence[T], percent: int) -> list[T]:
        """Some of the options, in order; each is chosen with this chance."""
        return [option for option in options if self.chance(percent)]
