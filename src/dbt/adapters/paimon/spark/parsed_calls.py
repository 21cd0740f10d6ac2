"""Parses CALL statements of Paimon's procedures with Spark's parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.sql.scala import elements
from dbt.adapters.paimon.sql.text import statements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ParsedCall:
    """The table of a CALL, and its arguments as strings, by name."""

    table: TableName
    arguments: Mapping[str, str]


def parsed(session: SparkSession, statement: str, procedure: str, order: Sequence[str]) -> ParsedCall | None:
    """Parse a CALL of a procedure; None for any other statement, and for a script.

    `order` has the names of the positional arguments; the first is `table`.
    """
    if len(statements(statement)) > 1:
        return None
    parser: Any = session._jsparkSession.sessionState().sqlParser()
    call = parser.parsePlan(statement)
    if call.getClass().getSimpleName() != "PaimonCallStatement":
        return None
    *catalogs, _, name = [str(part) for part in elements(call.name())]
    if name.lower() != procedure:
        return None
    given = _arguments(call.args(), order)
    # The procedure's catalog is the table's catalog, unless the table's name has one.
    catalog = catalogs[0] if catalogs else session.catalog.currentCatalog()
    *above, identifier = map(str, elements(parser.parseMultipartIdentifier(given["table"])))
    schema = above[-1] if above else session.catalog.currentDatabase()
    return ParsedCall(TableName(above[0] if len(above) > 1 else catalog, schema, identifier), given)


def _arguments(arguments: Any, order: Sequence[str]) -> dict[str, str]:
    given = {}
    for place, argument in enumerate(elements(arguments)):
        named = argument.getClass().getSimpleName() == "PaimonNamedArgument"
        name = str(argument.name()).lower() if named else "".join(order[place : place + 1])
        if (value := argument.expr().value()) is not None:
            given[name] = str(value)
    return given
