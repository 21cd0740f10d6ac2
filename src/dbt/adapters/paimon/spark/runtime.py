"""What a target runs on: versions, jars, Java and Spark settings, each determined once per process.

From a profile to a session: `credentials` → `Runtime` → `session`, `connect` or `thrift`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.capabilities.version_numbers import USUAL_SPARK, parse_version
from dbt.adapters.paimon.catalogs.storage import Storage
from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.machine.java import JavaRuntime, find_java
from dbt.adapters.paimon.profile_checks import STATIC_CONF
from dbt.adapters.paimon.spark.conf import session_settings, spark_conf
from dbt.adapters.paimon.spark.launch import packages, resolved_jars


@dataclass(frozen=True, eq=False)
class Runtime:
    """What a target runs on; all threads share the connection manager's object.

    Each property is determined, and raises its errors, when it is first used: `dbt parse` needs only the versions.
    """

    credentials: PaimonCredentials

    @cached_property
    def spark(self) -> str:
        """PySpark's version. A Thrift server does not need PySpark here; without it, the usual version is assumed."""
        method = self.credentials.method
        if method != PaimonConnectionMethod.THRIFT:
            return installation.require(method)
        try:
            return installation.spark_version()
        except DbtRuntimeError:
            return USUAL_SPARK

    @cached_property
    def paimon(self) -> str:
        """Paimon's version: from the connector's jar or package, else from the profile."""
        return packages.effective_paimon_version(self.credentials, spark_version=self.spark)

    @cached_property
    def versions(self) -> Versions:
        """The versions and the catalog kind, known without starting Spark."""
        return Versions(
            paimon=parse_version(self.paimon),
            spark=parse_version(self.spark),
            catalog_kind=self.credentials.metastore,
            case_sensitive=self.credentials.spark_config.get("spark.sql.caseSensitive", "").lower() == "true",
        )

    @property
    def view_catalog(self) -> str:
        """The catalog that stores views: the profile's `view_catalog`, Paimon's catalog if possible, or Spark's own."""
        credentials = self.credentials
        stores_views = credentials.spark_catalog.stores_views(self.versions)
        return credentials.view_catalog or (credentials.database if stores_views else "spark_catalog")

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """The storage of each catalog's warehouse, the target's own first."""
        return self.credentials.storages()

    @cached_property
    def jars(self) -> packages.PackagePlan:
        """The jars for a Spark on this machine.

        Raises:
            DbtRuntimeError: jars do not exist or are not compatible with Spark.
        """
        plan = packages.plan_packages(self.credentials, self.storages, self.spark)
        # A warm server and its clients compare the packages, not the files to which Ivy resolved them.
        return plan if self.credentials.method == PaimonConnectionMethod.CONNECT else resolved_jars.with_known(plan)

    @cached_property
    def conf(self) -> dict[str, str]:
        """The settings that Spark starts with; for a server that others started, the settings of a session.

        Raises:
            DbtRuntimeError: settings contradict the profile or would lose data; lists all of them.
        """
        if self.credentials.is_remote:
            return session_settings(self.credentials, self.storages, self.paimon)
        return spark_conf(self.credentials, self.storages, self.jars)

    @cached_property
    def session_conf(self) -> dict[str, str]:
        """The settings in `conf` that a session can set."""
        settings = self.conf.items()
        return {key: value for key, value in settings if key.startswith("spark.sql.") and key not in STATIC_CONF}

    @cached_property
    def java(self) -> JavaRuntime:
        """The Java for a Spark on this machine. Also sets this process's `JAVA_HOME` to it."""
        found = find_java(os.environ, self.spark)
        os.environ["JAVA_HOME"] = found.home
        return found
