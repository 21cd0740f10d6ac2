"""`max_bytes_read`: a query that would read more is refused before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.errors.conditions import is_not_found
from dbt.adapters.paimon.formatting import size
from dbt.adapters.paimon.metadata import files
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.spark.scans import Scan
from dbt.adapters.paimon.spec import safeguards
from dbt.adapters.paimon.sql.text import name_parts


def scans(adapter: AdapterProtocol, sql: str) -> tuple[Scan, ...]:
    """What a query would read from each table. A server only reports rows, from which bytes are estimated."""
    found = adapter.handle.scanned_tables(sql)
    return tuple(scan if scan.bytes is not None else _estimated(adapter, scan) for scan in found)


def problem(node: Mapping[str, Any], scans: Sequence[Scan]) -> str:
    """Why a node's query may not run; '' if it may run, or has no limit."""
    limit = safeguards.max_bytes_read(node["config"])
    total = sum(scan.bytes or 0 for scan in scans)
    if limit is None or total <= limit:
        return ""
    read = "; ".join(str(scan) for scan in sorted(scans, key=lambda scan: -(scan.bytes or 0)))
    return (
        f"{node['resource_type']} '{node['name']}': its query would read {size(total)} ({read}), but max_bytes_read is "
        f"{size(limit)}. Nothing was read or written. Filter by partition columns, or raise max_bytes_read."
    )


def _estimated(adapter: AdapterProtocol, scan: Scan) -> Scan:
    """A scan with its bytes, estimated from its share of the table's rows.

    If Spark does not print the catalog, the table may be in any catalog of the profile, and the largest one counts.
    """
    # System tables have no files of their own.
    if not scan.rows or "$" in scan.table:
        return scan
    catalogs, (first, *others) = adapter.credentials.paimon_catalogs, name_parts(scan.table)
    if len(others) > 1 and first in catalogs:
        catalogs, (first, *others) = frozenset([first]), others
    tables = [TableName(catalog, first, ".".join(others)) for catalog in catalogs]
    found = [held for held in (_totals(adapter, table) for table in tables) if held is not None and held.rows]
    sizes = [round(held.bytes * min(scan.rows / held.rows, 1)) for held in found]
    return replace(scan, bytes=max(sizes)) if sizes else scan


def _totals(adapter: AdapterProtocol, table: TableName) -> files.FileTotals | None:
    """The totals of a table's files; None if the catalog does not have the table."""
    try:
        return files.totals(adapter.query, table)
    except DbtRuntimeError as exc:
        if is_not_found(exc):
            return None
        raise
