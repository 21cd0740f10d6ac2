"""The location of a catalog's table locks: a local folder, or leases in an S3 bucket."""

from __future__ import annotations

from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.object_stores import S3, STORES
from dbt.adapters.paimon.catalogs.s3_objects import NoConditionsError, s3_objects
from dbt.adapters.paimon.catalogs.storage import Storage
from dbt.adapters.paimon.concurrency.leases import Leases, Watchdog
from dbt.adapters.paimon.concurrency.locks import FOLDER

# Appended to messages if locks are unavailable.
REMEDY: Final = (
    "Set `s3_lock: false` in the profile to run without locks, and make sure that only one dbt run writes at a time"
)


def needs_leases(catalog: SparkCatalog, s3_lock: bool | None) -> bool:
    """Whether a catalog's locks should be leases in its S3 bucket, because it has no other lock."""
    return s3_lock is not False and catalog.metastore == "filesystem" and STORES.get(catalog.scheme) is S3


def leases_of(storage: Storage, watchdog: Watchdog) -> Leases:
    """The leases of a warehouse on S3; raises NoConditionsError if the store has no conditional writes."""
    store = s3_objects(storage, FOLDER)
    store.require_conditional_writes()
    return Leases(store, watchdog)


def why_no_leases(storage: Storage) -> str:
    """Why a warehouse on S3 cannot have leases; '' if it can."""
    try:
        s3_objects(storage, FOLDER).require_conditional_writes()
    except NoConditionsError as exc:
        return str(exc.msg)
    return ""


def missing_lock_error(storage: Storage, why: str) -> DbtRuntimeError:
    """The error to raise if leases are required (`s3_lock: true`) but impossible."""
    return DbtRuntimeError(f"The tables of {storage.catalog.name} cannot be locked (`s3_lock: true`): {why}. {REMEDY}.")
