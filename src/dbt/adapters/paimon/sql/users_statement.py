"""Classifies SQL of hooks, operations, models and macros: the only module that derives a statement's kind from its SQL.

A statement that is not recognized is never retried.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.concurrency import conflicts
from dbt.adapters.paimon.sql.statements import (
    CACHE,
    CREATE_BRANCH,
    KEEPS_PLANS,
    NO_SETTINGS,
    SORTED_COMPACTION,
    Statement,
)
from dbt.adapters.paimon.sql.text import after_blanks, first_words, name_parts, statements

_CALL: Final = re.compile(
    r"call\b[^(]*\bsys`?\s*\.\s*`?(?P<procedure>\w+)`?\s*\((?P<arguments>.*)", re.IGNORECASE | re.DOTALL
)
_ORDER: Final = re.compile(r"(['\"])(?:order|zorder|hilbert)\1", re.IGNORECASE)
_TABLE: Final = re.compile(r"(?:\A|.*\btable\s*=>)\s*(['\"])(?P<name>[^'\"]+)\1", re.IGNORECASE | re.DOTALL)
_CACHE: Final = re.compile(r"cache\s+(?:lazy\s+)?table\s+\S+\s.*?\bas\b", re.IGNORECASE | re.DOTALL)
_DDL: Final = re.compile(
    r"(?P<verb>create|drop|alter)\s+(?:or\s+replace\s+)?(?:(?:global\s+)?temporary\s+)?(?P<what>\w+)", re.IGNORECASE
)
# The replaced table in a plan: the class of its catalog, its resolved name, and its name as written.
_REPLACED: Final = re.compile(r" ResolvedIdentifier (?P<catalog>\S+), (?P<name>.+)")
_WRITTEN: Final = re.compile(r"'UnresolvedIdentifier \[(?P<name>.+)\], (?:true|false)$", re.MULTILINE)
_QUERY: Final = re.compile(r"(?:select|with|values|from|table)\b", re.IGNORECASE)
# WITH … INSERT and FROM … INSERT begin like queries, but write.
_WRITES: Final = re.compile(r"\binsert\s+(?:into|overwrite)\b", re.IGNORECASE)
# A script gets one of these kinds if any of its statements has that kind.
_LOOKED_FOR: Final = (SORTED_COMPACTION, CREATE_BRANCH)


def read(script: str, conf: Mapping[str, str] = NO_SETTINGS) -> Statement:
    """Classify a script by its first statement with a kind in `_LOOKED_FOR`, or else by its first statement."""
    parts = [_read(script, part) for part in statements(script)]
    first = next((each for kind in _LOOKED_FOR for each in parts if each.kind == kind), parts[0])
    settings = {key: value for part in parts for key, value in part.conf.items()}
    return Statement(
        script, first.kind, {**settings, **conf}, repeat=all(part.repeat for part in parts), target=first.target
    )


def is_query(statement: str) -> bool:
    """Whether a statement only reads."""
    start = after_blanks(statement)
    while statement.startswith("(", start):
        start = after_blanks(statement, start + 1)
    return _QUERY.match(statement, start) is not None and _WRITES.search(statement) is None


def replaces_table(statement: str) -> bool:
    """Whether a statement is a `CREATE OR REPLACE TABLE` or `REPLACE TABLE`."""
    words = first_words(statement, 4)
    return words == ["create", "or", "replace", "table"] or words[:2] == ["replace", "table"]


def refuse_loss(plan: str) -> None:
    """Refuse to replace a table by a query of itself: Paimon drops it before the query reads it.

    Paimon 2.0.0 drops it only if it gets another partitioning [ran, 0.9.0, 1.4.2 and 2.0.0].

    Args:
        plan: of the statement, from EXPLAIN EXTENDED, where views are replaced with their queries.
    """
    found, written = _REPLACED.search(plan), _WRITTEN.search(plan)
    if found is None or ("\nAtomicReplaceTableAsSelect" in plan and ".paimon." not in found["catalog"]):
        return
    # The plan has the table's catalog only if the statement names it. Otherwise tables of all catalogs count.
    parts = name_parts(found["name"].strip())
    *above, table = (re.escape(part.replace("`", "``")) for part in parts)
    before, named, _ = (written["name"] if written else "").rpartition(f", {', '.join(parts)}")
    start = rf"\s`?{re.escape(before)}`?\." if named else r"[\s.]"
    name = "".join(rf"`?{part}`?\." for part in above) + rf"`?{table}(?:\$\S*)?`?"
    if re.search(rf" RelationV2\[.*{start}{name}(?=\s|\Z)", plan, re.IGNORECASE):
        raise DbtRuntimeError(
            f"create or replace table {found['name']}: its query reads the table itself. Paimon drops the table before "
            "the query reads it, so all rows could be lost; the table was not changed. Create another table from it, "
            "and rename both. If the query reads a table of another catalog, write the catalogs of both."
        )


def _read(script: str, part: str) -> Statement:
    start = after_blanks(part)
    if call := _CALL.match(part, start):
        kind, arguments = call["procedure"].lower(), call["arguments"]
        repeat = kind in conflicts.IDEMPOTENT_PROCEDURES
        if kind == "compact" and _ORDER.search(arguments):
            kind = SORTED_COMPACTION
        return Statement(script, kind, repeat=repeat, target=_table(arguments))
    if _CACHE.match(part, start):
        return Statement(script, CACHE, KEEPS_PLANS)
    if ddl := _DDL.match(part, start):
        return Statement(script, f"{ddl['verb']} {ddl['what']}".lower())
    return Statement(script)


def _table(arguments: str) -> tuple[str, ...]:
    """The table's name in a CALL, in parts: from the argument `table`, or else from the first argument."""
    found = _TABLE.match(arguments)
    return name_parts(found["name"])[-3:] if found else ()
