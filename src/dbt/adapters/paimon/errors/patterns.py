"""Jinja text read as a pattern of what it may render to.

What stands outside of tags is literal, the output of an expression is any text, a loop repeats, a condition chooses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from jinja2 import Environment

# The price of a character of an expression's output, and of one around the rendered text. What can be either is around.
_OUTPUT: Final = 2
_AROUND: Final = 1


@dataclass(frozen=True)
class _Tag:
    """A piece of the source: `kind` is data, expression, or the first word of a block."""

    kind: str
    start: int
    end: int
    assigns: bool = False


@dataclass
class State:
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


def _tags(source: str) -> Iterator[_Tag]:
    position = 0
    begun: tuple[str, int] | None = None
    words: list[tuple[str, str]] = []
    # dbt's environment has no delimiters of its own.
    for _, kind, value in Environment(autoescape=True).lexer.tokeniter(source, None):
        # White space that a tag strips is in no token.
        start = source.index(value, position)
        position = start + len(value)
        if kind == "data":
            if value:
                yield _Tag("data", start, position)
        elif kind in ("variable_begin", "block_begin"):
            begun, words = (kind, start), []
        elif kind in ("variable_end", "block_end") and begun is not None:
            end = position - (len(value) - len(value.rstrip()))
            if begun[0] == "variable_begin":
                yield _Tag("expression", begun[1], end)
            elif words:
                yield _Tag(words[0][1], begun[1], end, _assigns(words))
            begun = None
        elif begun is not None and kind != "whitespace":
            words.append((kind, value))


def _assigns(words: list[tuple[str, str]]) -> bool:
    """Whether `set` has a value, and no block."""
    operators = (value for kind, value in words if kind == "operator" and value not in (",", "."))
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


@dataclass(frozen=True)
class Pattern:
    """The states of a pattern, and the numbers of the first and the last."""

    states: list[State]
    first: int
    last: int = 0


def pattern_of(template: str, within: bool, last_first: bool) -> Pattern:
    """The pattern of a Jinja text.

    Args:
        template: the text, with line feeds only.
        within: there may be other text in front and behind.
        last_first: the order in which branches are tried.

    Raises:
        jinja2.TemplateSyntaxError: it is no Jinja.
    """
    states = [State()]

    def added(state: State) -> int:
        states.append(state)
        return len(states) - 1

    def chain(parts: Sequence[_Part], then: int) -> int:
        for part in reversed(parts):
            if isinstance(part, _Loop):
                hub = added(State())
                ways = [chain(part.body, hub), chain(part.otherwise, then)]
                states[hub].then = ways[::-1] if last_first else ways
                then = hub
            elif isinstance(part, _Choice):
                ways = [chain(branch, then) for branch in part.branches]
                then = added(State(then=ways[::-1] if last_first else ways))
            elif part.kind == "data":
                then = added(State(part.start, part.end, template[part.start : part.end], then=[then]))
            else:
                then = added(State(part.start, part.end, price=_OUTPUT, then=[then]))
        return then

    parts, _ = _tree(_tags(template))
    if not within:
        return Pattern(states, chain(parts, 0))
    parts = _without_start(parts, template)
    behind = added(State(price=_AROUND, then=[0]))
    return Pattern(states, added(State(price=_AROUND, then=[chain(parts, behind)])))


def _without_start(parts: list[_Part], template: str) -> list[_Part]:
    """The parts of a query that has other text in front, which takes its white space and its `with`."""
    for place, part in enumerate(parts):
        if isinstance(part, _Tag) and part.kind == "data":
            start = _START.match(template, part.start, part.end)
            if start is None or start.end() < part.end:
                rest = replace(part, start=start.end()) if start else part
                before = [one for one in parts[:place] if isinstance(one, _Tag) and one.kind != "data"]
                return [*before, rest, *parts[place + 1 :]]
        elif not isinstance(part, _Tag):
            break
    return parts
