"""Functional tests run dbt on an embedded Spark. All tests of a pytest worker share one JVM and one warehouse."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.factory import reset_adapters

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION, parse_version
from dbt.adapters.paimon.concurrency.locks import TableLocks
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.spark.launch import packages
from plans_sent import _what_is_sent_is_what_is_planned, plans_sent  # noqa: F401 - fixtures of every functional test

# The Paimon version under test: the default, or that of DBT_PAIMON_JARS.
CONNECTOR = parse_version(
    packages.effective_paimon_version(PaimonCredentials(schema="any", paimon_version=DEFAULT_PAIMON_VERSION))
)
VERSIONS = Versions.of(str(CONNECTOR), spark=installation.spark_version())


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of this worker."""
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="session")
def spark_config(spark_config: dict[str, Any], warehouse: Path) -> dict[str, Any]:
    """Spark's config, with a folder for this worker's own in-memory `spark_catalog`."""
    return spark_config | {"spark.sql.warehouse.dir": f"{warehouse}-of-spark"}


@pytest.fixture(scope="class", autouse=True)
def _new_adapter() -> None:
    """Reset dbt's adapters: dbt's fixtures would reuse the adapter, and so the warehouse, of an earlier test."""
    reset_adapters()


@pytest.fixture(scope="class")
def dbt_profile_target(warehouse: Path, spark_config: dict[str, Any]) -> dict[str, Any]:
    """A target with an embedded Spark; `DBT_PAIMON_JARS` replaces the connector."""
    return {
        "type": "paimon",
        "method": "session",
        "warehouse": str(warehouse),
        "paimon_version": DEFAULT_PAIMON_VERSION,
        "threads": 2,
        "spark_config": spark_config,
    }


@pytest.fixture
def may_write(project: Any) -> Callable[[str], bool]:
    """Function: whether another dbt run could write a table of the test's schema now."""

    def taken(name: str) -> bool:
        adapter, other = project.adapter, TableLocks()
        table = adapter.Relation.create(database="paimon", schema=project.test_schema, identifier=name)
        found = other.take(table.render(), adapter.builds.lock_place(table))
        other.release()
        return found

    return taken


@pytest.fixture(scope="session", autouse=True)
def _quiet_environment() -> Iterator[None]:
    """Unset variables of the developer's environment that would change which project or profile dbt uses."""
    before = {key: os.environ.pop(key, None) for key in ("DBT_PROFILES_DIR", "DBT_TARGET", "DBT_TARGET_PATH")}
    yield
    os.environ.update({key: value for key, value in before.items() if value is not None})
