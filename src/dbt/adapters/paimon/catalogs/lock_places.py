"""Location of a catalog's table locks: a local folder, or leases in a bucket."""

from __future__ import annotations

from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.object_stores import S3, STORES
from dbt.adapters.paimon.catalogs.s3_objects import NoConditionsError, s3_objects
from dbt.adapters.paimon.catalogs.storage import Storage
from dbt.adapters.paimon.concurrency.leases import Leases, Watchdog
from dbt.adapters.paimon.concurrency.locks import FOLDER

# What to do about a missing lock; ends a message.
REMEDY: Final = "`s3_lock: false` in the profile does without; then let one dbt run at a time write"


def needs_leases(catalog: SparkCatalog, s3_lock: bool | None) -> bool:
    """Whether a catalog's locks should be leases in its bucket, because nothing else separates its writers."""
    return s3_lock is not False and catalog.metastore == "filesystem" and STORES.get(catalog.scheme) is S3


def leases_of(storage: Storage, watchdog: Watchdog) -> Leases:
    """The leases of a warehouse on S3; NoConditionsError if its store cannot keep them."""
    store = s3_objects(storage, FOLDER)
    store.require_conditions()
    return Leases(store, watchdog)


def why_no_leases(storage: Storage) -> str:
    """Why the leases of a warehouse on S3 cannot be kept; empty if they can."""
    try:
        s3_objects(storage, FOLDER).require_conditions()
    except NoConditionsError as exc:
        return str(exc.msg)
    return ""


def missing_lock(storage: Storage, why: str) -> DbtRuntimeError:
    """The error of a target that requires leases (`s3_lock: true`)."""
    return DbtRuntimeError(f"The tables of {storage.catalog.name} cannot be locked (`s3_lock: true`): {why}. {REMEDY}.")
