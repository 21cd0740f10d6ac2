"""macros.md and operations.md: from the macros' properties (`macros/*.yml`) and their Jinja signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from dbt_common.clients import jinja
from dbt_common.utils import MACRO_PREFIX
from jinja2 import nodes

from dbt.include import paimon
from reference.markdown import NOTHING, code, page_link, table

FOLDER: Final = Path(paimon.PACKAGE_PATH) / "macros"
# Properties files of the macros for SQL, for hooks and operations, for operations only, and of the data tests.
IN_SQL, HOOKS, OPERATIONS, TESTS = "macros.yml", "hooks.yml", "operations.yml", "data_tests.yml"
_BLOCKS: Final = frozenset({"macro", "test"})
# Prefix and suffix of an operation's macro if dbt has a macro with the operation's name (see `adapter.execute_macro`).
_CALLED: Final = ("paimon__", "_operation")
# Folder of macros -> heading, and the page that explains it.
_FOLDERS: Final[Mapping[str, tuple[str, str]]] = {
    "time_travel": ("Earlier states and branches", "time-travel.md"),
    "changes": ("What has changed", "incremental-reads.md"),
    "dimensions": ("Dimensions", "dimensions.md"),
    "streaming": ("Streams", "streaming.md"),
    "monitoring": ("Health of tables", "monitoring.md"),
    "maintenance": ("Maintenance", "maintenance.md"),
    "operations": ("YAML of tables; erase, clear and drop", "operations.md"),
}
# Macros that are listed with those of a folder other than their own.
_LISTED_IN: Final = {"rollback_run": "time_travel"}
_SYSTEM_TABLES: Final = "system_tables.sql"
_MACROS: Final = """\
# Macros

Macros for models, data tests and analyses. For hooks, see [run-operations](operations.md). `make reference` writes
this page from the macros.

{macros}

## Data tests

The data tests are part of the adapter, so their names have no package prefix
([monitoring](../monitoring.md#data-tests)). They read the metadata of the whole table, so `where` is refused. Views
are refused, too.

{tests}
"""
_OPERATIONS: Final = """\
# Run-operations

`dbt run-operation NAME --args '{{argument: value}}'`. Give a table by the name of its model, seed or snapshot
(`fct_flights`), or as `table`, `schema.table` or `catalog.schema.table`. A name that several tables have, such as that
of a model with versions, is refused: name one of the tables (`fct_flights_v2`). For macros that models call, see
[macros](macros.md). `make reference` writes this page from the macros.

## In hooks, too

You can also call these in a `pre_hook` or a `post_hook`, with `this` as the table:
`post_hook="{{{{ compact(this) }}}}"`.

{hooks}

## Only as operations

{operations}
"""


@dataclass(frozen=True)
class Macro:
    """A macro in Jinja.

    Attributes:
        path: its file, relative to the folder of macros.
        defaults: argument -> its default as Jinja source; None for a required argument.
    """

    path: Path
    defaults: Mapping[str, str | None]


def macros() -> str:
    """macros.md."""
    described = _described(IN_SQL)
    return _MACROS.format(
        macros="\n\n".join(_sections(described, "##")),
        tests=table(("test", "argument", "default", ""), _test_rows(_described(TESTS))),
    )


def operations() -> str:
    """operations.md."""
    return _OPERATIONS.format(
        hooks="\n\n".join(_sections(_described(HOOKS), "###")),
        operations="\n\n".join(_sections(_described(OPERATIONS), "###")),
    )


@cache
def in_jinja() -> dict[str, Macro]:
    """Every macro and data test of the adapter, by name."""
    found: dict[str, Macro] = {}
    for path in sorted(FOLDER.rglob("*.sql")):
        blocks = jinja.extract_toplevel_blocks(path.read_text("utf-8"), _BLOCKS, collect_raw_data=False)
        for block in blocks:
            for each in jinja.parse(block.full_block).find_all(nodes.Macro):
                without = len(each.args) - len(each.defaults)
                texts = [None] * without + [_literal(default) for default in each.defaults]
                arguments = dict(zip((argument.name for argument in each.args), texts, strict=True))
                found[each.name.removeprefix(MACRO_PREFIX)] = Macro(path.relative_to(FOLDER), arguments)
    return found


def described() -> dict[str, dict[str, Any]]:
    """The properties of every documented macro, by name."""
    return {name: macro for file in (IN_SQL, HOOKS, OPERATIONS, TESTS) for name, macro in _described(file).items()}


def _described(file: str) -> dict[str, dict[str, Any]]:
    loaded = yaml.safe_load((FOLDER / file).read_text("utf-8"))
    return {macro["name"]: macro for macro in loaded["macros"]}


def _literal(node: nodes.Expr) -> str:
    """A default as it is written in a call: `none`, `'error'`, `false`, `7`."""
    try:
        value = node.as_const()
    except nodes.Impossible:
        # An expression, such as `target.database`.
        return "…"
    return str(value).lower() if value is None or isinstance(value, bool) else repr(value)


def _sections(described: Mapping[str, Mapping[str, Any]], heading: str) -> Iterator[str]:
    by_folder: dict[str, list[str]] = {}
    for name in described:
        by_folder.setdefault(_LISTED_IN.get(name) or in_jinja()[name].path.parts[0], []).append(name)
    for folder, names in by_folder.items():
        title, page = _FOLDERS[folder]
        yield f"{heading} {title}\n\nExplained in {page_link(page)}."
        system_tables = [name for name in names if in_jinja()[name].path.name == _SYSTEM_TABLES]
        for name in names:
            if name not in system_tables:
                yield _macro(name, described[name], f"{heading}#")
        if system_tables:
            rows = [(code(f"{name}(relation)"), _text(described[name])) for name in system_tables]
            yield "One macro for each system table, to use in FROM:\n\n" + table(("macro", "reads"), rows)


def _macro(name: str, properties: Mapping[str, Any], heading: str) -> str:
    called = name.removeprefix(_CALLED[0]).removesuffix(_CALLED[1])
    parts = [f"{heading} `{called}`", _text(properties)]
    rows = _argument_rows(name, properties)
    return "\n\n".join([*parts, table(("argument", "type", "default", ""), rows)])


def _argument_rows(name: str, properties: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    defaults = in_jinja()[name].defaults
    for argument in properties["arguments"]:
        default = defaults[argument["name"]]
        shown = NOTHING if default is None else code(default)
        yield code(argument["name"]), code(argument["type"]), shown, _text(argument)


def _test_rows(tests: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for name, properties in tests.items():
        own = [row for row in _argument_rows(name, properties) if row[0] != "`model`"]
        yield code(name.removeprefix("test_")), "", "", _text(properties)
        yield from (("", argument, default, text) for argument, _, default, text in own)


def _text(properties: Mapping[str, Any]) -> str:
    return " ".join(str(properties["description"]).split())
