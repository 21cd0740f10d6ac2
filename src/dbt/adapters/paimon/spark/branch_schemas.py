"""Copies the schemas that Paimon 0.9 omits when it creates a branch.

BranchManager.createBranch of 0.9 copies only the schema of the branch's table snapshot. A branch looks up the schema
of a data file among its own schemas, so it could not read rows from before the last ALTER [ran, 0.9.0]. Later
versions copy all schemas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.metadata.classes import paimon_table
from dbt.adapters.paimon.spark import parsed_calls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The first of CreateBranchProcedure.PARAMETERS; the others are not needed.
_ORDER: Final = ("table", "branch")


def complete(session: SparkSession, statement: str) -> None:
    """Copy the schemas that a branch lacks, after the CALL that created it; other statements are ignored."""
    jvm: Any = session._jvm
    call = parsed_calls.parsed(session, statement, "create_branch", _ORDER)
    if call is None:
        return
    table = paimon_table(session, call.table)
    files = table.fileIO()
    schemas = jvm.org.apache.paimon.schema.SchemaManager
    main = schemas(files, table.location())
    branch = schemas(files, table.location(), call.arguments["branch"])
    existing = set(branch.listAllIds())
    for number in main.listAllIds():
        if number < max(existing) and number not in existing:
            files.copyFile(main.toSchemaPath(number), branch.toSchemaPath(number), False)
