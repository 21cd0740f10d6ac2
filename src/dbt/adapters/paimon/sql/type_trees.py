"""Parses Spark types into trees, so that nested types can be compared part by part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from dbt.adapters.paimon.sql.text import is_plain, quoted, unquoted

_ATOM: Final = re.compile(
    r"\s*(?P<name>[a-z_]\w*)(?:\s*\(\s*(?P<args>\d+(?:\s*,\s*\d+)*)\s*\))?(?P<rest>[^,:<>()]*)", re.IGNORECASE
)
_FIELD: Final = re.compile(r"\s*(?P<name>`(?:[^`]|``)*`|[^`:,<>]+):")


@dataclass(frozen=True)
class Atom:
    """A type without element types: `decimal(10,2)` has the name `decimal` and the arguments 10 and 2."""

    name: str
    arguments: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(str, self.arguments))})" if self.arguments else self.name


@dataclass(frozen=True)
class Array:
    """`array<element>`."""

    element: TypeTree

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True)
class Map:
    """`map<key,value>`."""

    key: TypeTree
    value: TypeTree

    def __str__(self) -> str:
        return f"map<{self.key},{self.value}>"


@dataclass(frozen=True)
class Struct:
    """`struct<name:type,…>`, with its fields in order."""

    fields: tuple[tuple[str, TypeTree], ...]

    def __str__(self) -> str:
        return struct_text(self.fields)


def struct_text(fields: Iterable[tuple[str, object]]) -> str:
    """A struct type as DDL, with backticks around field names that need them."""
    listed = (f"{name if is_plain(name) else quoted(name)}:{kind}" for name, kind in fields)
    return f"struct<{','.join(listed)}>"


TypeTree: TypeAlias = "Atom | Array | Map | Struct"


def parts_of(tree: TypeTree) -> Iterator[TypeTree]:
    """A type, and the types that it contains at any depth."""
    yield tree
    match tree:
        case Array(element):
            inner = [element]
        case Map(key, value):
            inner = [key, value]
        case Struct(fields):
            inner = [kind for _, kind in fields]
        case _:
            inner = []
    for kind in inner:
        yield from parts_of(kind)


def any_part(value: str, tree: TypeTree, condition: Callable[[str, TypeTree], str], depth: int = 0) -> str:
    """SQL that is true if a value, or a value nested in it, meets a condition; '' if no type in it has a condition.

    `condition` returns the SQL for a value of a type, or ''.
    """
    found = [condition(value, tree)]
    if isinstance(tree, Array):
        element = f"__dbt_{depth}"
        inner = any_part(element, tree.element, condition, depth + 1)
        found.append(f"exists({value}, {element} -> {inner})" if inner else "")
    if isinstance(tree, Map):
        for function, kind in (("map_keys", tree.key), ("map_values", tree.value)):
            found.append(any_part(f"{function}({value})", Array(kind), condition, depth))
    if isinstance(tree, Struct):
        found += [any_part(f"{value}.{quoted(name)}", kind, condition, depth) for name, kind in tree.fields]
    conditions = " or ".join(filter(None, found))
    return f"({conditions})" if conditions and isinstance(tree, (Map, Struct)) else conditions


class _UnreadableError(ValueError):
    """A string is not a type in the form that `data_types` writes."""


def type_tree(text: str) -> TypeTree | None:
    """The tree of a Spark type in the form that `data_types` writes; None if it cannot be parsed.

    Field names may be unquoted, because types from a Thrift server come from DESCRIBE, which does not quote them.
    """
    try:
        tree, end = _read(text, 0)
    except _UnreadableError:
        return None
    return tree if not text[end:].strip() else None


def _read(text: str, at: int) -> tuple[TypeTree, int]:
    found = _ATOM.match(text, at)
    if found is None:
        raise _UnreadableError(text[at:])
    name, end = found["name"].lower(), found.end()
    if text[end : end + 1] != "<":
        arguments = map(int, filter(None, (found["args"] or "").split(",")))
        return Atom(f"{name}{found['rest'].rstrip().lower()}", tuple(arguments)), end
    inner: list[tuple[str, TypeTree]] = []
    at = end
    while text[at : at + 1] != ">" or at == end:
        # Skip `<` or a comma.
        at += 1
        label = ""
        if name == "struct":
            if text[at : at + 1] == ">" and not inner:
                break
            label, at = _field_name(text, at)
        kind, at = _read(text, at)
        inner.append((label, kind))
        if text[at : at + 1] not in (",", ">"):
            raise _UnreadableError(text[at:])
    return _nested(name, inner), at + 1


def _field_name(text: str, at: int) -> tuple[str, int]:
    found = _FIELD.match(text, at)
    if found is None:
        raise _UnreadableError(text[at:])
    return unquoted(found["name"].strip()), found.end()


def _nested(name: str, inner: list[tuple[str, TypeTree]]) -> TypeTree:
    kinds = [kind for _, kind in inner]
    if name == "struct":
        return Struct(tuple(inner))
    if name == "array" and len(kinds) == 1:
        return Array(kinds[0])
    if name == "map" and len(kinds) == 2:
        return Map(kinds[0], kinds[1])
    raise _UnreadableError(name)
