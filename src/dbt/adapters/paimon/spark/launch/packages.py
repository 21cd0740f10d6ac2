"""The jars that a Spark needs for Paimon: local files that the user names, and Maven coordinates for the rest."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import artifacts, version_numbers
from dbt.adapters.paimon.catalogs.object_stores import carries
from dbt.adapters.paimon.catalogs.storage import Storage
from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.spark.launch import default_version as defaults
from dbt.adapters.paimon.spark.launch.connector_jars import (
    GROUP,
    artifact_without_scala,
    connector_of_jar,
    connector_version_from_jars,
    is_connector,
    is_connector_package,
    local_path,
    scala_of_jar,
    scala_of_name,
    version_of_packages,
)

JARS_VARIABLE = "DBT_PAIMON_JARS"
# Prefix of Spark's settings for Ivy.
_IVY = "spark.jars."
# Dependencies in the connector's pom that it does not need: Paimon's own bundle is inside its jar, and Spark ships the
# rest, which must not be on the class path twice in different versions.
EXCLUDES = (
    "org.apache.paimon:paimon-bundle",
    "org.scala-lang:scala-compiler",
    "org.scala-lang:scala-library",
    "org.scala-lang:scala-reflect",
    "org.scala-lang.modules:scala-xml_2.12",
    "org.scala-lang.modules:scala-xml_2.13",
    "org.xerial.snappy:snappy-java",
    "org.lz4:lz4-java",
    "org.slf4j:slf4j-api",
    "com.google.code.findbugs:jsr305",
    "org.checkerframework:checker-qual",
    "com.google.protobuf:protobuf-java",
    # Dependencies of Spark's Kafka reader.
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "commons-logging:commons-logging",
    "com.github.luben:zstd-jni",
)


@dataclass(frozen=True)
class PackagePlan:
    """The jars for Spark's class path: files and URIs, Maven coordinates to download, and Maven repositories."""

    jars: tuple[str, ...]
    packages: tuple[str, ...]
    repositories: tuple[str, ...]
    paimon_version: str
    # Settings of the profile that may change what Ivy downloads.
    ivy: tuple[str, ...] = ()


def plan_packages(credentials: PaimonCredentials, storages: Sequence[Storage], spark_version: str) -> PackagePlan:
    """The jars for a Spark and its storages.

    If the target has `jars`, only its `packages` are downloaded. `DBT_PAIMON_JARS` replaces any connector. A warm
    server also needs the jar of Spark Connect.

    Raises:
        DbtRuntimeError: jars do not exist or do not fit Spark.
    """
    override, own = _jars(credentials)
    jars = (*override, *own)
    _check_jars((JARS_VARIABLE, override), ("jars in the profile", own))
    _check_scala(jars, credentials.packages, spark_version)
    _check_line(jars, credentials.packages, spark_version)
    version = effective_paimon_version(credentials, spark_version)
    packages = _named_packages(credentials, override)
    if not jars and not version_of_packages(packages):
        packages.insert(0, artifacts.connector_artifact(spark_version, version))
    if own:
        _check_plug_ins(storages, jars, packages, version)
    needed: list[str | None] = [] if own else [*_dependencies(credentials, storages, spark_version, version)]
    if credentials.method == PaimonConnectionMethod.CONNECT:
        needed.append(artifacts.connect_server_artifact(spark_version))
    for package in filter(None, needed):
        if not _names_artifact(artifact_without_scala(package), jars, packages):
            packages.append(package)
    ivy = tuple(f"{key}={value}" for key, value in credentials.spark_config.items() if key.startswith(_IVY))
    return PackagePlan(jars, tuple(packages), tuple(credentials.repositories), version, ivy)


def _named_packages(credentials: PaimonCredentials, override: Sequence[str]) -> list[str]:
    """The packages of the profile, without a connector that `DBT_PAIMON_JARS` replaces."""
    return [package for package in credentials.packages if not (override and is_connector_package(package))]


def _dependencies(
    credentials: PaimonCredentials, storages: Sequence[Storage], spark_version: str, version: str
) -> Iterator[str]:
    """The packages that a target needs besides the connector, in their order on the class path."""
    # Plug-ins that the connector does not contain: https://paimon.apache.org/docs/master/filesystems/overview/
    for storage in storages:
        if storage.plug_in is not None:
            yield f"{GROUP}:{storage.plug_in.artifact}:{version}"
    for protocol in sorted({storage.catalog.jdbc_protocol for storage in storages}):
        if driver := artifacts.JDBC_DRIVERS.get(protocol):
            yield driver
    if credentials.kafka_options:
        yield artifacts.kafka_artifact(spark_version)


def effective_paimon_version(credentials: PaimonCredentials, spark_version: str | None = None) -> str:
    """The Paimon version that will run: the connector's if known, else the profile's `paimon_version` or a default."""
    if named := connector_version(credentials) or credentials.paimon_version:
        return named
    chosen = default_version(credentials, spark_version)
    assert chosen is not None
    return chosen.version


def default_version(credentials: PaimonCredentials, spark_version: str | None = None) -> defaults.DefaultVersion | None:
    """The default version; None if the profile or a connector sets one. `spark_version` defaults to PySpark's."""
    if credentials.paimon_version or connector_version(credentials):
        return None
    if credentials.is_remote or any(_jars(credentials)):
        return defaults.ASSUMED
    return defaults.of(credentials, spark_version or installation.spark_version())


def connector_version(credentials: PaimonCredentials) -> str | None:
    """The version of the connector in jars or packages, or None."""
    override, own = _jars(credentials)
    named = connector_version_from_jars((*override, *own))
    return named or (None if override else version_of_packages(credentials.packages))


def _jars(credentials: PaimonCredentials) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The jars of `DBT_PAIMON_JARS`, and the profile's jars without a connector that these replace."""
    variable = re.split(rf"[,{re.escape(os.pathsep)}]", os.environ.get(JARS_VARIABLE, ""))
    parts = filter(None, map(str.strip, variable))
    override = tuple(str(Path(part).expanduser().absolute()) for part in parts)
    return override, tuple(jar for jar in credentials.jars if not (override and is_connector(jar)))


def _check_jars(*groups: tuple[str, Sequence[str]]) -> None:
    problems = []
    for origin, jars in groups:
        for jar in jars:
            path = local_path(jar)
            if path is None:
                continue
            if not path.is_file():
                problems.append(f"{path} ({origin}) does not exist")
            elif not zipfile.is_zipfile(path):
                problems.append(f"{path} ({origin}) is not a jar")
    if problems:
        raise DbtRuntimeError(
            f"Jars for Spark: {'; '.join(problems)}. "
            "Correct the paths, or leave them out to have Paimon's connector downloaded."
        )


def _check_scala(jars: Sequence[str], packages: Sequence[str], spark_version: str) -> None:
    """Refuse jars built for another Scala version than Spark's, because Java's own errors are unclear."""
    wanted = artifacts.scala_version(spark_version)
    found = {jar: scala_of_jar(jar) for jar in jars}
    found |= {package: scala_of_name(package.split(":")[1]) for package in packages}
    wrong = [f"{name} is made for Scala {of}" for name, of in found.items() if of not in (None, wanted)]
    if wrong:
        raise DbtRuntimeError(
            f"Jars for Spark: {'; '.join(wrong)}, and Spark {spark_version} runs on Scala {wanted}. Take the artifact "
            f"whose name ends in _{wanted} (Paimon's connector before 1.4 has no such ending), or leave the "
            "connector out to have the right one downloaded."
        )


def _check_line(jars: Sequence[str], packages: Sequence[str], spark_version: str) -> None:
    """Refuse a connector built for another minor version of Spark, whose internal classes differ."""
    line = version_numbers.minor(spark_version)
    connectors = {jar: connector_of_jar(jar) for jar in jars}
    connectors |= {package: package.split(":")[1] for package in packages if is_connector_package(package)}
    lines = {name: artifacts.connector_line(artifact) for name, artifact in connectors.items()}
    wrong = [name for name, of in lines.items() if of not in (None, line)]
    if wrong:
        raise DbtRuntimeError(
            f"Jars for Spark: {', '.join(wrong)}: Paimon's connector for another Spark than {spark_version}. Take the "
            f"artifact paimon-spark-{line}, or leave the connector out to have the right one downloaded; or install "
            f"the Spark that it is for, `pip install 'pyspark=={lines[wrong[0]]}.*'`."
        )


def _check_plug_ins(storages: Sequence[Storage], jars: Sequence[str], packages: Sequence[str], version: str) -> None:
    """Refuse jars without a plug-in that a storage needs, unless Spark's class path has it."""
    paths = [path for jar in jars if (path := local_path(jar)) is not None]
    for storage in storages:
        store = storage.plug_in
        if (
            store is None
            or _names_artifact(store.artifact, jars, packages)
            or any(carries(path, store) for path in paths)
            or storage.around.has_jar(store.artifact)
        ):
            continue
        jar = f"{store.artifact}-{version}.jar"
        where = f"https://repo1.maven.org/maven2/{GROUP.replace('.', '/')}/{store.artifact}/{version}/{jar}"
        raise DbtRuntimeError(
            f"The warehouse {redact_text(storage.catalog.warehouse or '')} needs Paimon's plug-in for {store.name}, "
            f"and no jar of the profile has it (with `jars` nothing is downloaded). Add {jar} to `jars` ({where}), or "
            f"{GROUP}:{store.artifact}:{version} to `packages`."
        )


def _names_artifact(artifact: str, jars: Iterable[str], packages: Iterable[str]) -> bool:
    name = re.compile(rf"{re.escape(artifact)}(_2\.1\d)?[-:]")
    files = (jar.rsplit("/", 1)[-1] for jar in jars)
    return any(map(name.match, (*files, *(package.partition(":")[2] for package in packages))))
