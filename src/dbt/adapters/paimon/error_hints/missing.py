"""Advice for a missing table: what exists instead, and a similar name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from dbt.adapters.paimon.errors.dialects import UNRESOLVED_ROUTINE
from dbt.adapters.paimon.options.table_options import suggestion
from dbt.adapters.paimon.sql.text import name_parts, quoted

_NAME: Final = r"`(?:[^`]|``)+`"
_NOT_FOUND: Final = re.compile(rf"\[TABLE_OR_VIEW_NOT_FOUND\][^`]*(?P<name>{_NAME}(?:\.{_NAME})*) cannot be found")
# The error of SparkCatalog.toIdentifier (from 1.0) if the catalog of a three-part name is missing. It omits the table.
_NO_CATALOG: Final = re.compile(
    r"catalog \S+ does not exist or Paimon only support single namespace, but got \[(.+?)\]"
)
_MOST_SHOWN: Final = 8

# Functions that list the schemas of a catalog, and the tables and views of a schema.
Schemas = Callable[[str], Sequence[str]]
Tables = Callable[[str, str], Sequence[str]]


def table_in(text: str) -> tuple[str, ...]:
    """The parts of the missing table's name; empty if this is a different error."""
    if no_catalog := _NO_CATALOG.search(text):
        return (*no_catalog[1].split(", "), "")
    found = _NOT_FOUND.search(text)
    return name_parts(found["name"]) if found else ()


def function_in(text: str) -> str:
    """The name of the missing function; '' if this is a different error."""
    found = UNRESOLVED_ROUTINE.search(text)
    return found[1] if found else ""


def advice(
    parts: Sequence[str], node: str, target_catalog: str, catalogs: Sequence[str], schemas: Schemas, tables: Tables
) -> str:
    """What exists instead of a missing table, and the remedy.

    Args:
        parts: the result of `table_in`; the last part is '' if only the catalog and schema are known.
        node: the name of the node whose statement failed; '' for an on-run-start or on-run-end hook.
        target_catalog: the catalog in which nodes are built.
    """
    if len(parts) < 3:
        return (
            "A hard-coded name is looked up in the catalog and schema of the session. Write "
            f"{{{{ ref('{parts[-1]}') }}}} for a node of this project. For any other table, declare a source in YAML "
            "and write {{ source(…) }}."
        )
    catalog, schema, table = parts[0], ".".join(parts[1:-1]), parts[-1]
    if catalog not in catalogs:
        problem = f"Spark has no catalog {quoted(catalog)}. Available catalogs: {_listed(catalogs, catalog)}"
        return f"{problem} Correct the source's `database` (the name of a Spark catalog), or omit it."
    problem = _existing_names(catalog, schema, table, schemas, tables)
    if (catalog, table) == (target_catalog, node):
        return (
            f"{problem} The node reads its own table, which is not built yet: put that part under "
            "{% if is_incremental() %}."
        )
    build = f"dbt build --select +{node}" if node else f"dbt build --select {table}"
    return (
        f"{problem} If the table is a source, correct its `database`, `schema` or `identifier` (`name`, if it has no "
        f"`identifier`) in YAML. If it is a node of this project, build that node first: {build}"
    )


def _existing_names(catalog: str, schema: str, table: str, schemas: Schemas, tables: Tables) -> str:
    known = schemas(catalog)
    if schema not in known:
        return f"Catalog {quoted(catalog)} has no schema {quoted(schema)}. Existing schemas: {_listed(known, schema)}"
    found = tables(catalog, schema)
    if not found:
        return f"The schema {quoted(schema)} is empty."
    return f"The schema {quoted(schema)} has {_listed(found, table)}"


def _listed(names: Sequence[str], wanted: str) -> str:
    """The first few names and the most similar one, as the end of a sentence."""
    shown = sorted(names)[:_MOST_SHOWN]
    more = ", …" if len(names) > len(shown) else ""
    near = suggestion(wanted, names, cutoff=0.6)
    return f"{', '.join(shown) or 'none'}{more}." + (f" Did you mean {near}?" if near else "")
