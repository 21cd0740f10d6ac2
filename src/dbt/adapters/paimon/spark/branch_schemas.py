"""Gives a new branch the schemas of its table that Paimon 0.9 leaves out.

Its BranchManager.createBranch copies the schema of the branch's table snapshot only. A data file names the schema that
it was written with, and a branch looks for it among its own: rows that are older than the last ALTER, be it of a
column or of an option, could not be read there [ran, 0.9.0]. Later versions copy all schemas.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.spark import heads
from dbt.adapters.paimon.spark.table_name import TableName
from dbt.adapters.paimon.sql.scala import elements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CREATES: Final = re.compile(r"\bcreate_branch\b", re.IGNORECASE)
# CreateBranchProcedure.PARAMETERS, where they are given by position; its other names are not needed.
_ORDER: Final = ("table", "branch")
_PROCEDURE: Final = ("sys", "create_branch")


def may_create_branch(statement: str) -> bool:
    """Whether a statement may be a CALL of `create_branch`."""
    return _CREATES.search(statement) is not None


def complete(session: SparkSession, statement: str) -> None:
    """Copy the schemas that a branch lacks, after the CALL that created it; nothing for any other statement.

    Args:
        session: a session of the embedded Spark.
        statement: one statement, which has run.

    Raises:
        Exception: of the storage, or this Paimon cannot be asked in this way.
    """
    jvm: Any = session._jvm
    parser: Any = session._jsparkSession.sessionState().sqlParser()
    call = parser.parsePlan(statement)
    if call.getClass().getSimpleName() != "PaimonCallStatement":
        return
    names = [str(name) for name in elements(call.name())]
    if names[-1].lower() != "create_branch":
        return
    given = _arguments(call.args())
    # Its catalog is that of the table, unless the name has one.
    catalog = names[0] if len(names) > len(_PROCEDURE) else session.catalog.currentCatalog()
    *above, schema, identifier = map(str, elements(parser.parseMultipartIdentifier(given["table"])))
    table = heads.paimon_table(session, TableName(above[0] if above else catalog, schema, identifier))
    files = table.fileIO()
    schemas = jvm.org.apache.paimon.schema.SchemaManager
    ours, theirs = schemas(files, table.location()), schemas(files, table.location(), given["branch"])
    there = set(theirs.listAllIds())
    for number in ours.listAllIds():
        if number < max(there) and number not in there:
            files.copyFile(ours.toSchemaPath(number), theirs.toSchemaPath(number), False)


def _arguments(arguments: Any) -> dict[str, str]:
    given = {}
    for place, argument in enumerate(elements(arguments)):
        named = argument.getClass().getSimpleName() == "PaimonNamedArgument"
        name = str(argument.name()).lower() if named else "".join(_ORDER[place : place + 1])
        given[name] = str(argument.expr().value())
    return given
