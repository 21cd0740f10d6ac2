"""Records in each warehouse the newest Paimon version that opened it; an older one runs only if the target sets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities.version_numbers import OLDEST_PAIMON, parse_version
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.metadata.classes import file_catalog
from dbt.adapters.paimon.spark.launch import packages
from dbt.adapters.paimon.spark.launch.default_version import MARK, valid_version

if TYPE_CHECKING:
    from packaging.version import Version
    from pyspark.sql import SparkSession

logger = AdapterLogger("Paimon")
# Warehouses that this process has checked, with the Paimon version that it runs.
_CHECKED: Final[set[tuple[str, Version]]] = set()


def check(session: SparkSession, credentials: PaimonCredentials) -> None:
    """Compare the marks in a target's warehouses with the running Paimon version, and raise older marks to it.

    A target that sets its Paimon version may use an older one. 0.9.0 leaves no mark, because no version is older.

    Raises:
        DbtRuntimeError: a newer Paimon has opened a warehouse, and the version was chosen by default.
    """
    version = parse_version(packages.effective_paimon_version(credentials))
    is_default = packages.default_version(credentials) is not None
    if version <= OLDEST_PAIMON and not is_default:
        return
    for catalog in credentials.spark_catalogs:
        place = catalog.warehouse or catalog.uri or catalog.name
        if (place, version) in _CHECKED:
            continue
        recorded = _raise_mark(session, catalog.name, version)
        if is_default and recorded is not None and recorded > version:
            raise DbtRuntimeError(
                f"Paimon {recorded} has opened the warehouse of {catalog.name}, but the default here is {version}, "
                f"which may not be able to read what {recorded} wrote. Nothing was written. Set the version in the "
                f"target: paimon_version: '{recorded}'"
            )
        _CHECKED.add((place, version))


def _raise_mark(session: SparkSession, name: str, version: Version) -> Version | None:
    """Raise a warehouse's mark to `version`. Returns the old mark; None without a mark or access to the files."""
    # Source: SparkCatalog.paimonCatalog, AbstractCatalog and FileIO [ran, 0.9.0], the same methods at 1.4.2 and 2.0.0.
    jvm: Any = session._jvm
    try:
        catalog = file_catalog(session, name)
        files, path = catalog.fileIO(), jvm.org.apache.paimon.fs.Path(f"{catalog.warehouse()}/{MARK}")
        found = valid_version(files.readFileUtf8(path)) if files.exists(path) else None
        recorded = parse_version(found) if found else None
        if version > (recorded or OLDEST_PAIMON):
            files.overwriteFileUtf8(path, f"{version}\n")
    except Exception as exc:  # noqa: BLE001 - a REST catalog has no files; others may be read-only
        logger.debug(f"Cannot read or write the Paimon version recorded in the warehouse of {name}: {exc}")
        return None
    return recorded
