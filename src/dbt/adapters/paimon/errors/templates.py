"""Which part of a Jinja text a part of its rendered text comes from, found without rendering it again.

The text is read as a pattern: what stands outside of tags is literal, the output of an expression is anything, a loop
repeats, a condition chooses. The rendered text fits the pattern; the fit with the fewest characters from expressions tells
where each character comes from. Rendering again is no way: macros run queries.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from jinja2 import Environment

# Steps of the search; 2,000,000 take about two seconds.
_MOST_STEPS: Final = 2_000_000
# Characters of literal text that a pattern must have to be looked for in a longer text.
_LEAST_LITERAL: Final = 8
# The price of a character of an expression's output, and of one around the rendered text: what can be either is around it.
_OUTPUT: Final = 2
_AROUND: Final = 1


@dataclass(frozen=True)
class Origin:
    """Where a character of the rendered text comes from.

    `start` and `end` are offsets in the Jinja text: a literal character, or the whole expression that made it.
    """

    start: int
    end: int
    literal: bool


@dataclass(frozen=True)
class _Tag:
    """A piece of the source: `kind` is data, expression, or the first word of a block."""

    kind: str
    start: int
    end: int
    assigns: bool = False


@dataclass
class _Node:
    """A state of the pattern; with `text` it is literal, with `price` it is any text for so much a character."""

    start: int = 0
    end: int = 0
    text: str = ""
    price: int = 0
    then: list[int] = field(default_factory=list)


_START: Final = re.compile(r"\s*(?:with\b)?", re.IGNORECASE)


# A part of the tree: a piece, a loop (its body and what follows `else`), or a choice of branches.
@dataclass(frozen=True)
class _Loop:
    body: list[_Part]
    otherwise: list[_Part]


@dataclass(frozen=True)
class _Choice:
    branches: list[list[_Part]]


_Part = _Tag | _Loop | _Choice


def normalized(text: str) -> str:
    """A text with the line ends that Jinja gives it."""
    return re.sub(r"\r\n|\r", "\n", text)


def origins(template: str, rendered: str, offset: int, within: bool = False) -> list[Origin]:
    """Where the character at an offset of the rendered text comes from.

    Args:
        template: the Jinja text, with the line ends of `normalized`.
        rendered: what it rendered to, perhaps without white space at its ends.
        offset: of the character.
        within: `rendered` may have other text in front and behind.

    Returns:
        One origin, several if the text fits the pattern in several ways, none if it does not fit, comes from around it, or
        has so many expressions that the search would take too long.

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
    text: str
    spans: Sequence[tuple[int, int, _Node]]

    def at(self, offset: int) -> Origin | None:
        for start, end, node in self.spans:
            # The end of the text belongs to what is there last.
            if start <= offset < end or (offset == end and end == self.spans[-1][1]):
                if node.text:
                    # At the ends of the text white space may be missing.
                    begin = node.start + node.text.find(self.text[start:end])
                    place = min(begin + offset - start, node.end - 1)
                    return Origin(place, place + 1, literal=True)
                return Origin(node.start, node.end, literal=False) if node.end > node.start else None
        return None


@lru_cache(maxsize=16)
def _fit(template: str, rendered: str, within: bool, last_first: bool) -> _Fit:
    nodes, first, last = _pattern(template, within, last_first)
    literal = sum(len(node.text.strip()) for node in nodes)
    if within and literal < _LEAST_LITERAL:
        return _Fit(rendered, ())
    return _Fit(rendered, tuple(_searched(nodes, first, last, rendered)))


# -- reading the source ------------------------------------------------------------------------------------------------


def _tags(source: str) -> Iterator[_Tag]:
    position = 0
    begun: tuple[str, int] | None = None
    words: list[tuple[str, str]] = []
    # dbt's environment has no delimiters of its own.
    for _, token, value in Environment(autoescape=True).lexer.tokeniter(source, None):
        # White space that a tag strips is in no token.
        start = source.index(value, position)
        position = start + len(value)
        if token == "data":
            if value:
                yield _Tag("data", start, position)
        elif token in ("variable_begin", "block_begin"):
            begun, words = (token, start), []
        elif token in ("variable_end", "block_end") and begun is not None:
            end = position - (len(value) - len(value.rstrip()))
            if begun[0] == "variable_begin":
                yield _Tag("expression", begun[1], end)
            elif words:
                yield _Tag(words[0][1], begun[1], end, _assigns(words))
            begun = None
        elif begun is not None and token != "whitespace":
            words.append((token, value))


def _assigns(words: list[tuple[str, str]]) -> bool:
    """Whether `set` has a value, and no block."""
    operators = (value for token, value in words if token == "operator" and value not in (",", "."))
    return next(operators, "") == "="


def _tree(tags: Iterator[_Tag], ends: frozenset[str] = frozenset()) -> tuple[list[_Part], _Tag | None]:
    """The parts up to a tag of `ends`, and this tag."""
    parts: list[_Part] = []
    for tag in tags:
        if tag.kind in ends:
            return parts, tag
        if tag.kind in ("data", "expression"):
            parts.append(tag)
        elif tag.kind == "for":
            body, end = _tree(tags, frozenset({"else", "endfor"}))
            otherwise = _tree(tags, frozenset({"endfor"}))[0] if end and end.kind == "else" else []
            parts.append(_Loop(body, otherwise))
        elif tag.kind == "if":
            parts.append(_condition(tags))
        elif tag.kind in ("call", "filter"):
            _, end = _tree(tags, frozenset({f"end{tag.kind}"}))
            parts.append(_Tag("expression", tag.start, end.end if end else tag.end))
        elif tag.kind == "include":
            parts.append(_Tag("expression", tag.start, tag.end))
        elif tag.kind == "macro" or (tag.kind == "set" and not tag.assigns):
            _tree(tags, frozenset({f"end{tag.kind}"}))
    return parts, None


def _condition(tags: Iterator[_Tag]) -> _Choice:
    branches: list[list[_Part]] = []
    complete = False
    while True:
        branch, end = _tree(tags, frozenset({"elif", "else", "endif"}))
        branches.append(branch)
        if end is None or end.kind == "endif":
            return _Choice(branches if complete else [*branches, []])
        complete = complete or end.kind == "else"


def _pattern(template: str, within: bool, last_first: bool) -> tuple[list[_Node], int, int]:
    """The states, the first and the last."""
    nodes = [_Node()]

    def added(node: _Node) -> int:
        nodes.append(node)
        return len(nodes) - 1

    def chain(parts: Sequence[_Part], then: int) -> int:
        for part in reversed(parts):
            if isinstance(part, _Loop):
                hub = added(_Node())
                ways = [chain(part.body, hub), chain(part.otherwise, then)]
                nodes[hub].then = ways[::-1] if last_first else ways
                then = hub
            elif isinstance(part, _Choice):
                ways = [chain(branch, then) for branch in part.branches]
                then = added(_Node(then=ways[::-1] if last_first else ways))
            elif part.kind == "data":
                then = added(_Node(part.start, part.end, template[part.start : part.end], then=[then]))
            else:
                then = added(_Node(part.start, part.end, price=_OUTPUT, then=[then]))
        return then

    parts, _ = _tree(_tags(template))
    if not within:
        return nodes, chain(parts, 0), 0
    parts = _without_start(parts, template)
    behind = added(_Node(price=_AROUND, then=[0]))
    return nodes, added(_Node(price=_AROUND, then=[chain(parts, behind)])), 0


def _without_start(parts: list[_Part], template: str) -> list[_Part]:
    """The parts of a query that has other text in front, which takes its white space and its `with`."""
    for place, part in enumerate(parts):
        if isinstance(part, _Tag) and part.kind == "data":
            start = _START.match(template, part.start, part.end)
            if start is None or start.end() < part.end:
                rest = replace(part, start=start.end()) if start else part
                return [*(one for one in parts[:place] if one.kind != "data"), rest, *parts[place + 1 :]]
        elif not isinstance(part, _Tag):
            break
    return parts


# -- fitting it to the rendered text -------------------------------------------------------------------------------------


def _literal(literal: str, text: str, position: int) -> int | None:
    """How much of the text a literal is; at the ends of the text white space may be missing, which dbt's macros trim."""
    rest = len(text) - position
    tries = [literal.lstrip()] if position == 0 and not text[:1].isspace() else []
    for one in (literal, *tries):
        if text.startswith(one, position):
            return len(one)
        if one[:rest] == text[position:] and not one[rest:].strip():
            return rest
    return None


def _searched(nodes: list[_Node], first: int, last: int, text: str) -> list[tuple[int, int, _Node]]:
    """The spans of the best fit, each with its state; empty if there is none, or the search is too long."""
    costs: dict[int, dict[int, int]] = {0: {first: 0}}
    came: dict[tuple[int, int], tuple[int, int]] = {}
    positions = [0]
    steps = 0
    while positions:
        position = heapq.heappop(positions)
        here = costs[position]
        todo = list(here)
        while todo:
            state = todo.pop(0)
            steps += 1
            node, cost = nodes[state], here[state]
            if node.text:
                length = _literal(node.text, text, position)
                if length is None:
                    continue
                reached = [(position + length, then, cost) for then in node.then]
            else:
                reached = [(position, then, cost) for then in node.then]
                if node.price and position < len(text):
                    reached.append((position + 1, state, cost + node.price))
            for where, then, price in reached:
                if where not in costs:
                    costs[where] = {}
                    heapq.heappush(positions, where)
                known = costs[where].get(then)
                if known is None or price < known:
                    costs[where][then] = price
                    came[where, then] = (position, state)
                    if where == position:
                        todo.append(then)
        if steps > _MOST_STEPS:
            return []
        if position != len(text):
            del costs[position]
    if last not in costs.get(len(text), {}):
        return []
    spans: list[tuple[int, int, _Node]] = []
    end = (len(text), last)
    while end != (0, first):
        begin = came[end]
        if begin[0] < end[0]:
            spans.append((begin[0], end[0], nodes[begin[1]]))
        end = begin
    return spans[::-1]
