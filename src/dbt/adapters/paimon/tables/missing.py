"""Advice for a missing table: what exists instead, and the name that may have been meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from dbt.adapters.paimon.options.table_options import suggestion
from dbt.adapters.paimon.sql.text import quoted

_NAME: Final = r"`(?:[^`]|``)+`"
_NOT_FOUND: Final = re.compile(rf"\[TABLE_OR_VIEW_NOT_FOUND\][^`]*(?P<name>{_NAME}(?:\.{_NAME})*) cannot be found")
# SparkCatalog.toIdentifier, from 1.0: three parts whose first is no catalog. The table is not named.
_NO_CATALOG: Final = re.compile(
    r"catalog \S+ does not exist or Paimon only support single namespace, but got \[(.+?)\]"
)
_NO_FUNCTION: Final = re.compile(r"\[UNRESOLVED_ROUTINE\] Cannot resolve (?:function|routine) `(\w+)`")
_MOST_SHOWN: Final = 8

# Functions that list the schemas of a catalog, and the tables and views of a schema in a catalog.
Schemas = Callable[[str], Sequence[str]]
Tables = Callable[[str, str], Sequence[str]]


def table_in(text: str) -> tuple[str, ...]:
    """The parts of the name of a table that Spark did not find; empty if this is another error."""
    if no_catalog := _NO_CATALOG.search(text):
        return (*no_catalog[1].split(", "), "")
    found = _NOT_FOUND.search(text)
    parts = re.findall(_NAME, found["name"]) if found else []
    return tuple(part[1:-1].replace("``", "`") for part in parts)


def function_in(text: str) -> str:
    """The name of a function that Spark does not have; '' if this is another error."""
    found = _NO_FUNCTION.search(text)
    return found[1] if found else ""


def advice(
    parts: Sequence[str], node: str, home: str, catalogs: Sequence[str], schemas: Schemas, tables: Tables
) -> str:
    """What exists instead of a missing table, and the remedy: two sentences.

    Args:
        parts: the table's name from `table_in`; the last part is '' where only its catalog and schema are known.
        node: name of the node whose statement failed; '' for a hook of the run.
        home: the target's catalog, in which nodes are built.
    """
    if len(parts) < 3:
        return (
            "A hard-coded name is looked up in the catalog and schema of the session. Write "
            f"{{{{ ref('{parts[-1]}') }}}} for a node of this project, or describe it in YAML and write "
            "{{ source(…) }}."
        )
    catalog, schema, table = parts[0], ".".join(parts[1:-1]), parts[-1]
    if catalog not in catalogs:
        there = f"Spark has no catalog {quoted(catalog)}, but {_listed(catalogs, catalog)}"
        return f"{there} Correct `database` of the source, or leave it out: it is the Spark catalog."
    there = _what_there_is(catalog, schema, table, schemas, tables)
    if (catalog, table) == (home, node):
        return (
            f"{there} The node reads its own table, which is not built yet: put that part under "
            "{% if is_incremental() %}."
        )
    build = f"dbt build --select +{node}" if node else f"dbt build --select {table}"
    return (
        f"{there} If it is a source, correct its `database`, `schema` or `identifier` (else its name) in YAML; if it "
        f"is a node of this project, build it first: {build}"
    )


def _what_there_is(catalog: str, schema: str, table: str, schemas: Schemas, tables: Tables) -> str:
    known = schemas(catalog)
    if schema not in known:
        return f"The catalog {quoted(catalog)} has no schema {quoted(schema)}, but {_listed(known, schema)}"
    found = tables(catalog, schema)
    if not found:
        return f"The schema {quoted(schema)} is empty."
    return f"The schema {quoted(schema)} has {_listed(found, table)}"


def _listed(names: Sequence[str], wanted: str) -> str:
    """The first few names, and the one that was probably meant, as the end of a sentence."""
    shown = sorted(names)[:_MOST_SHOWN]
    more = ", …" if len(names) > len(shown) else ""
    near = suggestion(wanted, names, cutoff=0.6)
    return f"{', '.join(shown) or 'none'}{more}." + (f" Did you mean {near}?" if near else "")
