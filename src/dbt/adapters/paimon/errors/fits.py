"""Which part of a Jinja text a part of its rendered text comes from, found without rendering it again.

The rendered text fits the pattern of the Jinja text; the fit with the fewest characters from expressions tells where
each character comes from. Rendering again is no way: macros run queries.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dbt.adapters.paimon.errors.patterns import Pattern, State, pattern_of

# Steps of the search; 2,000,000 take a few seconds.
_MOST_STEPS: Final = 2_000_000
# Characters of literal text that a pattern must have to be looked for in a longer text.
_LEAST_LITERAL: Final = 8


@dataclass(frozen=True)
class Origin:
    """Where a character of the rendered text comes from.

    `start` and `end` are offsets in the Jinja text: a literal character, or the whole expression that made it.
    """

    start: int
    end: int
    literal: bool


def origins(template: str, rendered: str, offset: int, within: bool = False) -> list[Origin]:
    """Where the character at an offset of the rendered text comes from.

    Args:
        template: the Jinja text, with line feeds only.
        rendered: what it rendered to, perhaps without white space at its ends.
        offset: of the character.
        within: `rendered` may have other text in front and behind.

    Returns:
        One origin; several if the text fits the pattern in several ways; none if it does not fit, if the character is
        around it, or if the search would take too long.

    Raises:
        jinja2.TemplateSyntaxError: it is no Jinja.
    """
    found = []
    # Equally good fits differ in which branch is tried first.
    for last_first in (False, True):
        origin = _fit(template, rendered, within, last_first).at(offset)
        if origin is not None and origin not in found:
            found.append(origin)
    return found


@dataclass(frozen=True)
class _Fit:
    """Spans of a text, each with the state of the pattern that it fits."""

    text: str
    spans: Sequence[tuple[int, int, State]]

    def at(self, offset: int) -> Origin | None:
        for start, end, state in self.spans:
            # The end of the text belongs to what is there last.
            if start <= offset < end or (offset == end and end == self.spans[-1][1]):
                if state.text:
                    # At the ends of the text white space may be missing.
                    begin = state.start + state.text.find(self.text[start:end])
                    place = min(begin + offset - start, state.end - 1)
                    return Origin(place, place + 1, literal=True)
                return Origin(state.start, state.end, literal=False) if state.end > state.start else None
        return None


@lru_cache(maxsize=16)
def _fit(template: str, rendered: str, within: bool, last_first: bool) -> _Fit:
    pattern = pattern_of(template, within, last_first)
    literal = sum(len(state.text.strip()) for state in pattern.states)
    if within and literal < _LEAST_LITERAL:
        return _Fit(rendered, ())
    return _Fit(rendered, _Search(pattern, rendered).spans())


class _Search:
    """The cheapest way through a pattern that reads a whole text."""

    def __init__(self, pattern: Pattern, text: str) -> None:
        self._states = pattern.states
        self._start = (0, pattern.first)
        self._end = (len(text), pattern.last)
        self._text = text
        # What each state costs at each position still to come, and from where it was reached.
        self._costs: dict[int, dict[int, int]] = {0: {pattern.first: 0}}
        self._came: dict[tuple[int, int], tuple[int, int]] = {}
        self._positions = [0]
        self._steps = 0
        self._known_followers: dict[int, frozenset[str | None]] = {}

    def spans(self) -> list[tuple[int, int, State]]:
        """The spans of the text with their states; empty if it does not fit, or the search is too long."""
        while self._positions:
            position = heapq.heappop(self._positions)
            self._read_at(position)
            if self._steps > _MOST_STEPS:
                return []
            if position != len(self._text):
                del self._costs[position]
        if self._end[1] not in self._costs.get(self._end[0], {}):
            return []
        spans: list[tuple[int, int, State]] = []
        end = self._end
        while end != self._start:
            begin = self._came[end]
            if begin[0] < end[0]:
                spans.append((begin[0], end[0], self._states[begin[1]]))
            end = begin
        return spans[::-1]

    def _read_at(self, position: int) -> None:
        costs = self._costs[position]
        todo = deque(costs)
        while todo:
            number = todo.popleft()
            self._steps += 1
            for where, then, cost in self._reached(position, number, costs[number]):
                if where not in self._costs:
                    self._costs[where] = {}
                    heapq.heappush(self._positions, where)
                known = self._costs[where].get(then)
                if known is None or cost < known:
                    self._costs[where][then] = cost
                    self._came[where, then] = (position, number)
                    if where == position:
                        todo.append(then)

    def _reached(self, position: int, number: int, cost: int) -> list[tuple[int, int, int]]:
        """Positions, states and costs that a state at a position leads to."""
        state = self._states[number]
        if state.text:
            length = _length_of(state.text, self._text, position)
            return [] if length is None else [(position + length, then, cost) for then in state.then]
        reached = [(position, then, cost) for then in state.then]
        if state.price and position < len(self._text):
            end = self._next_end(position + 1, number)
            if end is not None:
                reached.append((end, number, cost + state.price * (end - position)))
        return reached

    def _next_end(self, position: int, number: int) -> int | None:
        """The next position, from one on, where an expression's output can end: where what follows it can begin."""
        ends = []
        for follower in self._followers(number):
            if follower is None:
                return position
            # At the end white space may be missing.
            found = self._text.find(follower.rstrip() or follower, position) if follower else -1
            ends += [found] if found >= 0 else []
            ends += [] if follower.strip() else [len(self._text)]
        return min(ends, default=None)

    def _followers(self, number: int) -> frozenset[str | None]:
        """The literals that can follow an expression, '' for the end of the text, None for another expression."""
        if number not in self._known_followers:
            found: set[str | None] = set()
            seen: set[int] = set()
            todo = [*self._states[number].then]
            while todo:
                then = todo.pop()
                state = self._states[then]
                if then in seen:
                    continue
                seen.add(then)
                if then == self._end[1]:
                    found.add("")
                elif state.price:
                    found.add(None)
                elif state.text:
                    found.add(state.text)
                else:
                    todo += state.then
            self._known_followers[number] = frozenset(found)
        return self._known_followers[number]


def _length_of(literal: str, text: str, position: int) -> int | None:
    """The length of a literal in a text; None if it is not there.

    White space at the ends of the text may be missing: dbt's macros trim it.
    """
    rest = len(text) - position
    tries = [literal.lstrip()] if position == 0 and not text[:1].isspace() else []
    for one in (literal, *tries):
        if text.startswith(one, position):
            return len(one)
        if one[:rest] == text[position:] and not one[rest:].strip():
            return rest
    return None
