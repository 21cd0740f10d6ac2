"""Gives the column names in a config the spelling of the actual columns.

By default Spark ignores case in names, but Paimon does not: `PARTITIONED BY (DT)` works for the column `dt`, but the
option 'sequence.field'='TS' is refused for `ts` [ran, 0.9.0]. So all mentions of a column get the same spelling before
the rules are checked, and the spelling of the actual column once it is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from dbt.adapters.paimon.options.table_options import FILE_INDEX_SETTING, split_field_option
from dbt.adapters.paimon.options.values import split_columns
from dbt.adapters.paimon.spec.components import NAMING_OPTIONS
from dbt.adapters.paimon.spec.table import TableSpec

Speller = Callable[[str], str]

_FILE_INDEX_COLUMNS: Final = re.compile(r"file-index\.[\w-]+\.columns")


def speller(columns: Iterable[str]) -> Speller:
    """A function that changes a name to the spelling in `columns`, if exactly one column matches ignoring case."""
    exact = tuple(columns)
    known: dict[str, set[str]] = {}
    for name in exact:
        known.setdefault(name.lower(), set()).add(name)

    def spell(name: str) -> str:
        found = known.get(name.lower(), set())
        return next(iter(found)) if len(found) == 1 and name not in exact else name

    return spell


def has_column(name: str, columns: Iterable[str], case_sensitive: bool) -> bool:
    """Whether Spark finds a column with this name."""
    return name in columns if case_sensitive else name.lower() in map(str.lower, columns)


def with_column_case(spec: TableSpec, columns: Iterable[str]) -> TableSpec:
    """The table with column names spelled as in `columns`."""
    spell = speller(columns)
    options = {_option(name, spell): column_text(name, value, spell) for name, value in spec.options.items()}
    return replace(
        spec,
        primary_key=tuple(map(spell, spec.primary_key)),
        partition_by=tuple(map(spell, spec.partition_by)),
        options=options,
    )


def one_spelling(spec: TableSpec) -> TableSpec:
    """The table with each column name spelled as in its first mention, so that rules can compare names."""
    first: dict[str, str] = {}
    for _, name in named_columns(spec):
        first.setdefault(name.lower(), name)
    return with_column_case(spec, first.values())


def named_columns(spec: TableSpec) -> Iterator[tuple[str, str]]:
    """(option, column) of each column in a table's config; `ConfigOrigin.find` accepts the option."""
    yield from (("primary_key", name) for name in spec.primary_key)
    yield from (("partition_by", name) for name in spec.partition_by)
    for option, value in spec.options.items():
        yield from ((option, name) for name in _named_by(option, value))


def _named_by(option: str, value: str) -> Iterable[str]:
    if option in NAMING_OPTIONS:
        return split_columns(value)
    if _FILE_INDEX_COLUMNS.fullmatch(option):
        # A map's key follows in brackets: 'm[a]'.
        return (name.split("[")[0] for name in split_columns(value))
    if setting := FILE_INDEX_SETTING.fullmatch(option):
        return (setting[2].split("[")[0],)
    columns, attribute = split_field_option(option) or ((), "")
    return (*columns, *split_columns(value)) if attribute == "sequence-group" else columns


def doubled_options(options: Mapping[str, str]) -> list[tuple[str, str]]:
    """(option, the same option in different case) of each column setting that is given twice."""
    first: dict[str, str] = {}
    doubled = []
    for name in options:
        key = _option(name, str.lower)
        if key in first:
            doubled.append((name, first[key]))
        first.setdefault(key, name)
    return doubled


def _option(name: str, spell: Speller) -> str:
    if found := split_field_option(name):
        return f"fields.{','.join(map(spell, found[0]))}.{found[1]}"
    if setting := FILE_INDEX_SETTING.fullmatch(name):
        return f"{setting[1]}.{_indexed(setting[2], spell)}.{setting[3]}"
    return name


def column_text(name: str, value: str, spell: Speller = str) -> str:
    """An option's value, with columns spelled by `spell`, and without spaces between them."""
    # For 'id, dt', Paimon would look for a column ' dt' [ran, 0.9.0].
    found = split_field_option(name)
    if name in NAMING_OPTIONS or (found and found[1] == "sequence-group"):
        return ",".join(map(spell, split_columns(value)))
    if _FILE_INDEX_COLUMNS.fullmatch(name):
        return ",".join(_indexed(column, spell) for column in split_columns(value))
    return value


def _indexed(column: str, spell: Speller) -> str:
    base, bracket, key = column.partition("[")
    return spell(base) + bracket + key
