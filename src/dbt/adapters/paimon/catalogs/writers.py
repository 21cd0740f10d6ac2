"""Whether several processes may write to a table of a catalog at the same time."""

from __future__ import annotations

from typing import Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.object_stores import STORES

# Stores that rename by a copy and a delete, which is not atomic. Paimon commits by a rename (RenamingSnapshotCommit).
NOT_ATOMIC: Final = frozenset({*STORES, "abfs", "abfss", "wasb", "wasbs", "cos", "cosn", "gs", "obs", "tos"})
# Catalogs with their own lock: HiveCatalog and JdbcCatalog.defaultLockFactory. FileSystemCatalog does not have one, and
# cannot use theirs: each lock casts its context to the class of its own catalog.
LOCKING: Final = frozenset({"hive", "jdbc"})


def writers(catalog: SparkCatalog, paimon_version: str, no_leases: str | None = None) -> tuple[bool, str]:
    """Whether several processes can safely write to a table at the same time, and the explanation for `dbt debug`.

    `no_leases` is why the store cannot have leases; '' if it has them, None if they are not wanted.
    """
    place = catalog.scheme or catalog.metastore
    if catalog.metastore == "rest":
        return True, "the REST server commits: several writers at once are safe"
    if catalog.scheme == "file":
        return True, (
            "file locks keep dbt runs on this machine from writing a table at once; other programs ignore these locks"
        )
    if catalog.scheme not in NOT_ATOMIC:
        return True, f"a commit is one atomic rename on {place}: several writers at once are safe"
    if catalog.metastore in LOCKING:
        return _by_own_lock(catalog)
    if catalog.scheme == "oss" and Versions.of(paimon_version).supports(Capability.ATOMIC_OSS_COMMITS):
        return True, "a commit is one atomic put on oss: several writers at once are safe"
    if no_leases == "":
        return True, (
            "leases in the bucket (.dbt_paimon) keep dbt runs from writing a table at once; other programs ignore them"
        )
    why = f" ({no_leases})" if no_leases else ""
    return False, (
        f"a rename on {place} is not atomic, and a filesystem catalog has no lock{why}: two writers of one table at "
        "once can lose rows. Make sure that only one dbt run writes at a time, or set metastore to hive, which has "
        "locks"
    )


def renames_by_copying(catalog: SparkCatalog) -> bool:
    """Whether a table's rename copies its files one by one; a REST server renames by itself."""
    return catalog.scheme in NOT_ATOMIC and catalog.metastore != "rest"


def _by_own_lock(catalog: SparkCatalog) -> tuple[bool, str]:
    if catalog.options.get("lock.enabled", "true").lower() == "false":
        return False, (
            f"a rename on {catalog.scheme} is not atomic, and lock.enabled is false: two writers of one table at once "
            "can lose rows. Remove lock.enabled from catalog_options"
        )
    return True, (
        f"a rename on {catalog.scheme} is not atomic, but the {catalog.metastore} catalog locks: several writers at "
        "once are safe"
    )
