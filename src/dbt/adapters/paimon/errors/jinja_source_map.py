"""Maps an offset in compiled SQL to its Jinja source without rendering it again, because its macros may run queries.

The template becomes an automaton: literal text matches itself, an expression matches any text, a loop repeats, a
condition branches. The cheapest path that matches the rendered text determines the source of each character; only
characters that no literal matches have a cost.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import count
from typing import Final

from jinja2 import Environment

# The maximum number of search steps, which take a few seconds.
_MOST_STEPS: Final = 2_000_000
# A template with fewer literal characters is not searched for in a longer text, where it may match by chance.
_LEAST_LITERAL: Final = 8
# The cost of a character from an expression, and of one outside the template's output.
_OUTPUT: Final = 2
_AROUND: Final = 1
# If dbt puts CTEs before a query, they replace the query's leading white space and `with`.
_QUERY_START: Final = re.compile(r"\s*(?:with\b)?", re.IGNORECASE)


@dataclass(frozen=True)
class Origin:
    """A span of the Jinja text: a literal character, or the whole expression that produced a character."""

    start: int
    end: int
    literal: bool


@dataclass(frozen=True)
class _Tag:
    """A token of the template: `kind` is data, expression, or the first word of a block tag."""

    kind: str
    start: int
    end: int


@dataclass
class _State:
    """A state of the automaton. It matches `text`, or any text at `cost` per character, or nothing."""

    start: int = 0
    end: int = 0
    text: str = ""
    cost: int = 0
    then: list[int] = field(default_factory=list)


def origins(template: str, rendered: str, offset: int, within: bool = False) -> list[Origin]:
    """Find where the character at an offset of the rendered text comes from.

    Args:
        template: the Jinja text, with line feeds only.
        rendered: the rendered text, possibly without white space at its ends.
        within: whether `rendered` may have other text around what the template rendered.

    Returns:
        The origins that fit equally well; empty if the text does not match or the search takes too long.

    Raises:
        jinja2.TemplateSyntaxError: the template is invalid.
    """
    # If several paths are equally cheap, the order of the branches decides which one is found. So try both orders.
    paths = [_path(template, rendered, within, last_first) for last_first in (False, True)]
    found = dict.fromkeys(_origin(path, rendered, offset) for path in paths)
    return [origin for origin in found if origin is not None]


def _origin(path: list[tuple[int, int, _State]], rendered: str, offset: int) -> Origin | None:
    for start, end, state in path:
        # The offset at the end of the text belongs to the last state.
        if start <= offset < end or offset == end == path[-1][1]:
            if state.text:
                # White space may be missing at the ends of the rendered text.
                begin = state.start + state.text.find(rendered[start:end])
                place = min(begin + offset - start, state.end - 1)
                return Origin(place, place + 1, literal=True)
            return Origin(state.start, state.end, literal=False) if state.end > state.start else None
    return None


@lru_cache(maxsize=16)
def _path(template: str, rendered: str, within: bool, last_first: bool) -> list[tuple[int, int, _State]]:
    """The cheapest path through the template that matches the rendered text: spans of the text with their states."""
    automaton = _Automaton(template, within)
    states = automaton.states
    if within and sum(len(state.text.strip()) for state in states) < _LEAST_LITERAL:
        return []
    if last_first:
        for state in states:
            state.then.reverse()
    came = _search(states, rendered)
    path = []
    at = (len(rendered), automaton.last)
    while at in came:
        before = came[at]
        if before[0] < at[0]:
            path.append((before[0], at[0], states[before[1]]))
        at = before
    return path[::-1]


def _search(states: list[_State], text: str) -> dict[tuple[int, int], tuple[int, int]]:
    """The predecessor of each (position, state) on the cheapest path to it; empty after too many steps."""
    ends = cache(lambda number: _ends_of_output(number, states, text))
    order = count()
    came: dict[tuple[int, int], tuple[int, int]] = {}
    costs = {(0, 0): 0}
    queue = [(0, next(order), 0)]
    while queue:
        position, step, number = heapq.heappop(queue)
        if step > _MOST_STEPS:
            return {}
        state, cost = states[number], costs[position, number]
        length = _length_of(state.text, text, position)
        reached = [] if length is None else [(position + length, then, cost) for then in state.then]
        if state.cost and position < len(text):
            end = ends(number)[bisect_right(ends(number), position)]
            reached.append((end, number, cost + state.cost * (end - position)))
        for where, then, total in reached:
            if (where, then) not in costs or total < costs[where, then]:
                costs[where, then] = total
                came[where, then] = position, number
                heapq.heappush(queue, (where, next(order), then))
    return came


def _ends_of_output(number: int, states: list[_State], text: str) -> Sequence[int]:
    """The positions where an expression's output can end: where a following literal begins, or at the end."""
    ends = {len(text)}
    followers = [*states[number].then]
    for follower in followers:
        state = states[follower]
        if state.cost:
            return range(len(text) + 1)
        if state.text:
            # White space may be missing at the end of the rendered text.
            wanted = re.escape(state.text.rstrip() or state.text)
            ends.update(found.start() for found in re.finditer(f"(?={wanted})", text))
        else:
            followers += [then for then in state.then if then not in followers]
    return sorted(ends)


def _length_of(literal: str, text: str, position: int) -> int | None:
    """The length of the text that matches a literal at a position; None if there is no match."""
    # dbt's macros trim white space from the ends of the rendered text.
    rest = len(text) - position
    for wanted in (literal, literal.lstrip()) if position == 0 and not text[:1].isspace() else (literal,):
        if text.startswith(wanted, position):
            return len(wanted)
        if wanted[:rest] == text[position:] and not wanted[rest:].strip():
            return rest
    return None


class _Automaton:
    """The states of a template, from number 0 to `last`."""

    def __init__(self, template: str, within: bool) -> None:
        self._template = template
        self._tags = _tags(template)
        self._trims_start = within
        self.states = [_State(cost=_AROUND if within else 0)]
        end, _ = self._read(0)
        self.last = self._add(self._add(end, _State(cost=_AROUND)) if within else end, _State())

    def _add(self, before: int, state: _State) -> int:
        self.states.append(state)
        self.states[before].then.append(len(self.states) - 1)
        return len(self.states) - 1

    def _read(self, current: int, *stops: str) -> tuple[int, str]:
        """Add states up to a tag whose kind is in `stops`; returns the last state and that kind."""
        for tag in self._tags:
            if tag.kind in stops:
                return current, tag.kind
            if tag.kind == "data":
                current = self._literal(current, tag)
            elif tag.kind in ("expression", "include"):
                current = self._add(current, _State(tag.start, tag.end, cost=_OUTPUT))
            elif tag.kind in ("call", "filter"):
                current = self._add(current, _State(tag.start, self._end_of(tag.kind), cost=_OUTPUT))
            elif tag.kind in ("macro", "set"):
                self._end_of(tag.kind)
            elif tag.kind == "for":
                current = self._loop(current)
            elif tag.kind == "if":
                current = self._condition(current)
        return current, ""

    def _literal(self, current: int, tag: _Tag) -> int:
        start = tag.start
        if self._trims_start and (found := _QUERY_START.match(self._template, start, tag.end)):
            start = found.end()
        if start == tag.end:
            return current
        self._trims_start = False
        return self._add(current, _State(start, tag.end, self._template[start : tag.end]))

    def _end_of(self, kind: str) -> int:
        """Skip the rest of a block and return its end."""
        depth, end = 1, 0
        while depth and (tag := next(self._tags, None)):
            depth += (tag.kind == kind) - (tag.kind == f"end{kind}")
            end = tag.end
        return end

    def _loop(self, current: int) -> int:
        hub = self._add(current, _State())
        end, kind = self._read(hub, "else", "endfor")
        self.states[end].then.append(hub)
        if kind != "else":
            return hub
        # Jinja renders the else branch only if the loop has no iterations.
        join = self._add(self._read(hub, "endfor")[0], _State())
        self.states[hub].then.append(join)
        return join

    def _condition(self, current: int) -> int:
        fork = self._add(current, _State())
        ends, kind, complete = [], "if", False
        while kind in ("if", "elif", "else"):
            complete = kind == "else"
            end, kind = self._read(fork, "elif", "else", "endif")
            ends.append(end)
        join = self._add(ends[0], _State())
        for end in ends[1:] if complete else [*ends[1:], fork]:
            self.states[end].then.append(join)
        return join


def _tags(template: str) -> Iterator[_Tag]:
    """The tokens of a template, without tags such as `{% set a = 1 %}`."""
    position = begin = 0
    words: list[tuple[str, str]] = []
    # This lexer can read dbt's templates, because dbt uses Jinja's default delimiters.
    for _, kind, value in Environment(autoescape=True).lexer.tokeniter(template, None):
        # White space that a tag strips is not in any token.
        start = template.index(value, position)
        position = start + len(value)
        end = position - (len(value) - len(value.rstrip()))
        if kind == "data" and value:
            yield _Tag("data", start, position)
        elif kind in ("variable_begin", "block_begin"):
            begin, words = start, []
        elif kind == "variable_end":
            yield _Tag("expression", begin, end)
        elif kind == "block_end" and words:
            if not _assigns(words):
                yield _Tag(words[0][1], begin, end)
        elif kind != "whitespace":
            words.append((kind, value))


def _assigns(words: list[tuple[str, str]]) -> bool:
    """Whether a tag such as `set` assigns a value, and so has no block."""
    operators = (text for kind, text in words if kind == "operator" and text not in (",", "."))
    return next(operators, "") == "="
