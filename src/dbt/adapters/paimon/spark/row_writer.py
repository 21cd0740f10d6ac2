"""Writes rows with row kinds: upserts and deletes by primary key in one commit, without storing the kind in a column.

Spark SQL can only do this with MERGE, which reads the whole table. Paimon's write command accepts a data frame with a
column `_row_kind_`: a tinyint with RowKind's byte value (SparkSystemColumns.ROW_KIND_COL, WriteIntoPaimonTable,
PaimonSparkWriter.write at 0.9.0 to 2.0.0).
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

# Paimon's identifier of a batch commit (BatchWriteBuilder.COMMIT_IDENTIFIER).
BATCH: Final = 2**63 - 1


def write(frame: DataFrame, table: Any, options: Mapping[str, str]) -> None:
    """Write a data frame into a table in one commit.

    Args:
        frame: has the table's columns in the same order with the same types, then `_row_kind_`.
        table: Paimon's table object from its catalog, whose locks the commit takes.
        options: table options for this write only, such as the commit user.
    """
    session: Any = frame.sparkSession
    writers = session._jvm.org.apache.paimon.spark.commands.PaimonSparkWriter
    writer = writers.apply(table.copy(dict(options)), *_defaults(writers))
    writer.commit(writer.write(frame._jdf))


def _defaults(writers: Any) -> list[Any]:
    """The default values of the parameters after the table, which Scala passes but py4j does not."""
    from py4j.protocol import Py4JError

    found: list[Any] = []
    with suppress(Py4JError):
        for number in count(2):
            found.append(getattr(writers, f"apply$default${number}")())  # noqa: PERF401 - it ends with an error
    return found


def commit_nothing(jvm: Any, table: Any, mark: str) -> None:
    """Commit a table snapshot without rows; its commit user begins with `mark`."""
    commit = table.newCommit(f"{mark}_{uuid.uuid4()}").ignoreEmptyCommit(False)
    try:
        commit.commit(BATCH, jvm.java.util.ArrayList())
    finally:
        commit.close()
