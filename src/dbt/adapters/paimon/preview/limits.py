"""`max_bytes_read`: a query that would read more is refused before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.paimon.preview.findings import shown
from dbt.adapters.paimon.spark.figures import size
from dbt.adapters.paimon.spark.scans import Scan
from dbt.adapters.paimon.spec import safeguards


def problem(node: Mapping[str, Any], scans: Sequence[Scan]) -> str:
    """Why a node's query may not run; '' if it may, or has no limit.

    Args:
        node: the node in the manifest.
        scans: what its query reads.
    """
    limit = safeguards.max_bytes_read(node["config"])
    total = sum(scan.bytes or 0 for scan in scans)
    if limit is None or total <= limit:
        return ""
    read = "; ".join(shown(scan) for scan in sorted(scans, key=lambda scan: -(scan.bytes or 0)))
    return (
        f"{node['resource_type']} '{node['name']}': its query would read {size(total)} ({read}), and max_bytes_read is "
        f"{size(limit)}. Nothing was read or written. Filter by partition columns, or raise max_bytes_read."
    )
