"""The version for a target that sets no Paimon version: the newest tested one whose connector is available."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import Final

from dbt_common.exceptions import DbtRuntimeError
from packaging.version import InvalidVersion, Version

from dbt.adapters.paimon.capabilities import artifacts, version_numbers
from dbt.adapters.paimon.concurrency.locks import FOLDER
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.machine.cache_folder import cache_folder, cache_key
from dbt.adapters.paimon.machine.private_files import read_own, write_own
from dbt.adapters.paimon.spark.launch import maven

# The file in a warehouse with the newest Paimon version that has opened it (see `spark.warehouse_version`).
MARK: Final = f"{FOLDER}/paimon-version"


@dataclass(frozen=True)
class DefaultVersion:
    """A version that the adapter has chosen, and the reason, which completes `Paimon <version>: …`."""

    version: str
    reason: str


# For a connector that the adapter does not choose: a server's, or one in a jar without a version.
ASSUMED: Final = DefaultVersion(
    version_numbers.DEFAULT_PAIMON_VERSION, "assumed, because the version of the existing connector is unknown"
)
_CHOSEN: Final[dict[tuple[str, ...], DefaultVersion]] = {}
_CHOOSING: Final = Lock()


def of(credentials: PaimonCredentials, spark: str) -> DefaultVersion:
    """The Paimon version for a target and a Spark; it does not change within a process.

    An earlier choice for the same catalog, Spark line and user stays. Otherwise the choice is the newest tested version
    that this machine or a repository has. A choice for which a repository did not answer is not kept. The version is
    never older than the mark in a local warehouse.
    """
    note = _note(credentials, spark)
    key = (note, *credentials.repositories)
    with _CHOOSING:
        if key not in _CHOSEN:
            _CHOSEN[key] = _with_mark(credentials, _kept_or_chosen(note, spark, credentials))
        return _CHOSEN[key]


def valid_version(text: str) -> str | None:
    """Parse a recorded version; None if the text is not a version."""
    with suppress(InvalidVersion):
        return str(Version(text.strip()))
    return None


def _kept_or_chosen(note: str, spark: str, credentials: PaimonCredentials) -> DefaultVersion:
    with suppress(OSError, DbtRuntimeError):
        if kept := valid_version(read_own(cache_folder() / note)):
            return DefaultVersion(kept, "as before in this warehouse")
    chosen, answered = _choose(spark, credentials.repositories, credentials.spark_config)
    if answered:
        with suppress(OSError, DbtRuntimeError):
            write_own(cache_folder() / note, f"{chosen.version}\n")
    return chosen


def _choose(spark: str, named: Sequence[str], spark_config: Mapping[str, str]) -> tuple[DefaultVersion, bool]:
    """The newest tested version whose connector is available, else the oldest; and whether repositories answered."""
    line, tested = version_numbers.minor(spark), artifacts.tested(spark)
    connectors = {version: artifacts.connector_artifact(spark, version) for version in tested}
    asked = list(takewhile(lambda version: not maven.is_here(connectors[version], spark_config), tested))
    answers = maven.ask([connectors[version] for version in asked], maven.repositories(named, spark_config))
    found = next((version for version in asked if answers[connectors[version]]), None)
    newer = asked[: asked.index(found)] if found else asked
    answered = all(answers[connectors[version]] is False for version in newer)
    version = found or next(iter(tested[len(asked) :]), artifacts.first_release(spark))
    if not answered:
        return DefaultVersion(version, "chosen although a Maven repository did not answer"), False
    why = "newest tested one" if tested else "first one"
    return DefaultVersion(version, f"the {why} for Spark {line} that can be downloaded"), True


def _with_mark(credentials: PaimonCredentials, chosen: DefaultVersion) -> DefaultVersion:
    """The version that has opened a local warehouse, if it is newer than the chosen one."""
    folder = credentials.local_warehouse
    with suppress(OSError, ValueError):
        mark = valid_version(Path(folder, MARK).read_text(encoding="utf-8")) if folder else None
        if mark and Version(mark) > Version(chosen.version):
            return DefaultVersion(mark, "as before in this warehouse")
    return chosen


def _note(credentials: PaimonCredentials, spark: str) -> str:
    """The name of the file in the user's cache folder with the choice for a catalog."""
    catalog = credentials.spark_catalog
    line = version_numbers.minor(spark)
    return f"paimon-version-{cache_key([line, catalog.metastore, catalog.warehouse, catalog.uri])}"
