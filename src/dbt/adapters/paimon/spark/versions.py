"""The versions that a target runs on, known without starting Spark."""

from __future__ import annotations

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import USUAL_SPARK, Capability, Versions, parse_version
from dbt.adapters.paimon.credentials import PaimonConnectionMethod, PaimonCredentials
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.spark.launch import packages


def versions_of(credentials: PaimonCredentials) -> Versions:
    """The versions and the catalog kind of a target."""
    return Versions(
        paimon=parse_version(packages.effective_paimon_version(credentials)),
        spark=parse_version(_spark_version(credentials)),
        catalog_kind=credentials.metastore,
        case_sensitive=credentials.spark_config.get("spark.sql.caseSensitive", "").lower() == "true",
    )


def _spark_version(credentials: PaimonCredentials) -> str:
    """PySpark's version; on a Thrift server Spark's version is unknown, and no local PySpark is needed."""
    if credentials.method != PaimonConnectionMethod.THRIFT:
        return installation.require(credentials.method)
    try:
        return installation.spark_version()
    except DbtRuntimeError:
        return USUAL_SPARK


def view_catalog(credentials: PaimonCredentials, versions: Versions) -> str:
    """The catalog that stores views: the Paimon catalog if it can, else the profile's `view_catalog`."""
    if credentials.view_catalog:
        return credentials.view_catalog
    stores_views = credentials.spark_catalog.is_sessions or versions.supports(Capability.VIEWS)
    return credentials.database if stores_views else "spark_catalog"
