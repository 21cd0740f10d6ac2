"""What a version needs beside it: Paimon's connector and other Maven artifacts, JDBC drivers, Java and Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from dbt_common.exceptions import DbtRuntimeError
from packaging.version import Version

from dbt.adapters.paimon.capabilities.version_numbers import (
    DEFAULT_PAIMON_VERSION,
    RELEASES,
    as_version,
    minor,
    options_versions,
    parse_version,
    reaches,
)

# Spark line -> the Paimon releases on which all functional tests have run (see docs/compatibility), the newest first.
# A profile without paimon_version gets the first one whose connector is available, else the line's oldest release.
_TESTED: Final[Mapping[str, tuple[str, ...]]] = {"3.5": ("2.0.0", "1.4.2"), "4.1": ("2.0.0",)}

# Spark line -> the first Paimon with a connector for it.
_CONNECTORS: Final = {"3.2": "0.9", "3.3": "0.9", "3.4": "0.9", "3.5": "0.9", "4.0": "1.2", "4.1": "2.0"}

# Spark version -> the newest Python on which older Spark versions run.
# Source: "Python Requirements" in the installation guide of each PySpark line. 3.5 also runs on newer Pythons, with a
# setuptools that contains distutils.
_PYTHONS: Final = {"3.3": (3, 9), "3.4": (3, 10), "3.5": (3, 11), "4.1.dev0": (3, 13)}

# First Spark version -> the Java versions that its documentation lists, the recommended one first.
# https://spark.apache.org/docs/3.5.7/#downloading and .../4.0.0/#downloading
_JAVAS: Final[Mapping[str, tuple[int, ...]]] = {"4.0": (17, 21), "3.3": (17, 11, 8), "0": (11, 8)}
# The first Java that can archive the classes that a run has loaded (JEP 350).
JAVA_WITH_CLASS_ARCHIVES: Final = 13
# The first Java that returns unused memory to the system while it is idle (JEP 346).
JAVA_WITH_IDLE_COLLECTIONS: Final = 12

# The JDBC drivers of a jdbc catalog, by the protocol in its URI (`jdbc:sqlite:…`).
JDBC_DRIVERS: Final[Mapping[str, str]] = {
    "sqlite": "org.xerial:sqlite-jdbc:3.50.3.0",
    "postgresql": "org.postgresql:postgresql:42.7.8",
    "mysql": "com.mysql:mysql-connector-j:9.4.0",
    "mariadb": "org.mariadb.jdbc:mariadb-java-client:3.5.5",
}


def connector_artifact(spark_version: str | Version, paimon_version: str | Version) -> str:
    """The Maven coordinates of Paimon's connector for a Spark version; raises DbtRuntimeError without one.

    Source: artifactId in paimon-spark/paimon-spark-*/pom.xml at the release tags. From 1.4, it ends in Scala's version.
    """
    spark, paimon = as_version(spark_version), as_version(paimon_version)
    options_versions(paimon)  # refuses versions that are too old
    spark_line = minor(spark)
    if not (first := _CONNECTORS.get(spark_line)):
        raise DbtRuntimeError(
            f"Paimon has no connector for Spark {spark}, only for {', '.join(_CONNECTORS)}. Install one of them: "
            f"{install_command('session')} (Spark 3.5) or {install_command('spark4')} (Spark 4.1); or name the "
            "connector's jar under `jars` in the profile."
        )
    if not reaches(paimon, first):
        raise DbtRuntimeError(
            f"Paimon {paimon} has no connector for Spark {spark_line}: the first is Paimon {first}. Set paimon_version "
            f"in the profile to {either(releases(spark))}, or install Spark 3.5: {install_command('session')}."
        )
    suffix = f"_{scala_version(spark_line)}" if reaches(paimon, "1.4") else ""
    return f"org.apache.paimon:paimon-spark-{spark_line}{suffix}:{paimon_version}"


def releases(spark_version: str | Version) -> list[str]:
    """The Paimon releases with a connector for a Spark, the newest last."""
    first = _CONNECTORS.get(minor(spark_version))
    return [release for release in RELEASES if first and reaches(release, first)]


def tested(spark_version: str | Version) -> tuple[str, ...]:
    """The Paimon releases on which all tests have run with a Spark line, the newest first."""
    return _TESTED.get(minor(spark_version), ())


def first_release(spark_version: str | Version) -> str:
    """The oldest supported Paimon release with a connector for a Spark; for an unknown Spark the oldest of all."""
    return next(iter(releases(spark_version)), DEFAULT_PAIMON_VERSION)


def connector_line(artifact: str) -> str | None:
    """The Spark line in a connector's artifact name (`paimon-spark-3.5_2.12`); None for another artifact."""
    found = re.match(r"paimon-spark-(\d+\.\d+)(?=[-_]|$)", artifact)
    return found[1] if found else None


def require_python(spark_version: str | Version, python: tuple[int, int]) -> None:
    """Refuse a Python version on which a PySpark version does not run."""
    spark = as_version(spark_version)
    newest = next((until for first, until in _PYTHONS.items() if spark < Version(first)), None)
    if newest is not None and python > newest:
        raise DbtRuntimeError(
            f"PySpark {spark} does not run on Python {python[0]}.{python[1]}, only up to {newest[0]}.{newest[1]}. "
            f"Install another one: {install_command('session')} (Spark 3.5)."
        )


def java_versions(spark_version: str | Version) -> tuple[int, ...]:
    """The Java versions that a Spark version documents as supported, the recommended one first."""
    spark = as_version(spark_version)
    return next(versions for since, versions in _JAVAS.items() if spark >= Version(since))


def install_command(extra: str) -> str:
    """The command that installs dbt-paimon with an extra; quoted for a shell."""
    return f"`pip install 'dbt-paimon[{extra}]'`"


def either(versions: Iterable[object]) -> str:
    """`1.2, 1.3 or 1.4`."""
    *first, last = map(str, versions)
    return f"{', '.join(first)} or {last}" if first else last


def connect_server_artifact(spark_version: str | Version) -> str | None:
    """The Maven coordinates of Spark Connect's server; None from Spark 4.0. Raises DbtRuntimeError before Spark 3.5."""
    spark = as_version(spark_version)
    if spark < Version("3.5"):
        raise DbtRuntimeError(
            f"`dbt-paimon server` needs PySpark 3.5 or newer, this is {spark}: {install_command('connect')}."
        )
    return f"org.apache.spark:spark-connect_2.12:{spark_version}" if spark.major == 3 else None


def kafka_artifact(spark_version: str) -> str:
    """The Maven coordinates of Spark's Kafka reader."""
    return f"org.apache.spark:spark-sql-kafka-0-10_{scala_version(spark_version)}:{spark_version}"


def scala_version(spark_version: str) -> str:
    """The Scala version of the jars in PySpark."""
    return "2.12" if parse_version(spark_version).major == 3 else "2.13"
