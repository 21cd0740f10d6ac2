"""Schema, size and last commit of many tables, for dbt's docs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.metadata import schemas
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.table_name import Query, Table
from dbt.adapters.paimon.sql import clocks

# Tables per statement: Spark parses and plans larger unions slowly.
MOST_TABLES: Final = 40


@dataclass(frozen=True)
class Overview:
    """A table's schema, last commit, and the rows (before merging), bytes and files of its newest table snapshot.

    Attributes:
        position: the table's position in the argument `tables` of `read`.
        committed: when the newest table snapshot was committed, in UTC, or None.
    """

    position: int
    rows: int
    bytes: int
    files: int
    committed: str | None
    schema: Schema


def read(query: Query, tables: Sequence[Table]) -> list[Overview]:
    """Read the overviews of tables, with one statement; their order is arbitrary."""
    rows = query("\nunion all\n".join(_sql(position, table) for position, table in enumerate(tables)))
    return [
        Overview(int(position), int(count), int(size), int(files), committed, Schema.of_row(schema))
        for position, count, size, files, committed, *schema in rows
    ]


def _sql(position: int, table: Table) -> str:
    return (
        f"select {position} as position, f.row_count, f.byte_count, f.file_count, c.commit_time, {schemas.COLUMNS}\n"
        f"from ({schemas.current_sql(table)}) as s\n"
        "cross join (select coalesce(sum(record_count), 0) as row_count, "
        "coalesce(sum(file_size_in_bytes), 0) as byte_count,\n"
        f"  count(*) as file_count from {table.system_table('files')}) as f\n"
        f"cross join (select {clocks.as_seconds(clocks.in_utc('max(commit_time)'))} as commit_time\n"
        f"  from {table.system_table('snapshots')}) as c"
    )
