"""The system tables of each Paimon version."""

from __future__ import annotations

from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import suggestion
from dbt.adapters.paimon.relation import PaimonRelation

# SystemTableLoader.SYSTEM_TABLE_LOADERS at the release tags; None: in every supported version.
SYSTEM_TABLES: Final[dict[str, Capability | None]] = {
    **dict.fromkeys("snapshots schemas options files partitions".split()),
    "buckets": Capability.BUCKETS_TABLE,
    **dict.fromkeys("tags branches consumers manifests audit_log".split()),
    "binlog": Capability.BINLOG_TABLE,
    **dict.fromkeys("ro statistics aggregation_fields".split()),
    "table_indexes": Capability.TABLE_INDEXES_TABLE,
    "row_tracking": Capability.ROW_IDS,
    "file_key_ranges": Capability.FILE_KEY_RANGES_TABLE,
}


def system_table(relation: PaimonRelation, name: str, versions: Versions) -> str:
    """The rendered name of a system table.

    Raises:
        DbtRuntimeError: the system table does not exist in this Paimon version, or the relation is a view.
    """
    if name not in SYSTEM_TABLES:
        near = suggestion(name, SYSTEM_TABLES, cutoff=0.6)
        hint = f"Did you mean '{near}'?" if near else f"Known: {', '.join(SYSTEM_TABLES)}."
        raise DbtRuntimeError(f"{relation}: there is no system table '{name}'. {hint}")
    if needs := SYSTEM_TABLES[name]:
        versions.require(needs, f"the system table {name} of {relation}")
    if relation.is_view:
        raise DbtRuntimeError(
            f"{relation} is a view, which has no system tables: name the table that it reads, or materialize it."
        )
    return relation.system_table(name)
