"""`max_bytes_read`: a query that would read more is refused before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.formatting import size
from dbt.adapters.paimon.metadata import files
from dbt.adapters.paimon.spark.scans import Scan
from dbt.adapters.paimon.spec import safeguards


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
    schema, _, name = scan.table.rpartition(".")
    table = adapter.get_relation(adapter.credentials.database, schema, name)
    if table is None or not scan.rows:
        return scan
    held = files.totals(adapter.query, table)
    return replace(scan, bytes=round(held.bytes * min(scan.rows / held.rows, 1))) if held.rows else scan
