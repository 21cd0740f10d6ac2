"""Which jars a Spark needs for Paimon: local files that the user names, and Maven coordinates for the rest."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO

from dbt_common.exceptions import DbtRuntimeError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from dbt.adapters.paimon import capabilities
from dbt.adapters.paimon.catalogs.catalog import SparkCatalog, location_scheme
from dbt.adapters.paimon.catalogs.object_stores import ObjectStore, carries
from dbt.adapters.paimon.catalogs.storage import Storage, Surroundings
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.machine.cache_folder import cache_folder
from dbt.adapters.paimon.machine.private_files import open_own, temporary_folder
from dbt.adapters.paimon.machine.waiting import Wait

JARS_VARIABLE = "DBT_PAIMON_JARS"
GROUP = "org.apache.paimon"
# Seconds that another process may take to download its jars.
_LONGEST_RESOLUTION = 30 * 60
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
    # Dependency of Spark's Kafka reader.
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "commons-logging:commons-logging",
    "com.github.luben:zstd-jni",
)
_CONNECTOR_NAME = re.compile(r"^paimon-spark-\d+\.\d+(?:_2\.1\d)?-(?P<version>\d.*?)\.jar$")
_SCALA_SUFFIX = re.compile(r"_(2\.1\d)(?=-|$)")
_CONNECTOR_LINE = re.compile(r"^paimon-spark-(\d+\.\d+)(?=-\d|$)")
_CONNECTOR_ARTIFACT = re.compile(r"^paimon-spark-\d+\.\d+(_2\.1\d)?$")
_CONNECTOR_POM = re.compile(
    rf"^META-INF/maven/{re.escape(GROUP)}/paimon-spark-\d+\.\d+(_2\.1\d)?/pom\.properties$"
)
_POM_VERSION = re.compile(r"^version=(\S+)", re.MULTILINE)
# From Ivy's report: a host that does not resolve, one that refuses connections, one that answers with an error other
# than "not found".
_IVY_NO_HOST = re.compile(r"Host ([\w.-]+) not found\. url=")
_IVY_NO_ACCESS = re.compile(
    r"Server access error at url \w+://(?:[^/@\s]*@)?([\w.-]+)\S* \([\w.]*?(\w+): ?([^)]*)\)"
)
_IVY_STATUS = re.compile(r"HTTP response status: (\d+) url=\w+://(?:[^/@\s]*@)?([\w.-]+)")
# A repository that Spark always searches too; whether it answers makes no difference.
_SPARK_PACKAGES = "repos.spark-packages.org"
_IVY_MISSING = re.compile(r"(?:unresolved dependency|download failed): ([^\s:#]+)#([^;\s]+);([^:!\s]+)")


@dataclass(frozen=True)
class PackagePlan:
    """The jars for Spark's class path.

    Attributes:
        jars: local files and URIs, for `spark.jars`.
        packages: Maven coordinates, for `spark.jars.packages`; if empty, nothing is downloaded.
        repositories: additional Maven repositories, for `spark.jars.repositories`.
        paimon_version: version of Paimon's connector among them, if it can be determined.
    """

    jars: tuple[str, ...]
    packages: tuple[str, ...]
    repositories: tuple[str, ...]
    paimon_version: str


def plan_packages(
    credentials: PaimonCredentials,
    storages: Sequence[Storage],
    spark_version: str,
    environ: Mapping[str, str] | None = None,
) -> PackagePlan:
    """Work out the jars for a Spark, a Paimon version and the storages.

    Args:
        credentials: the target. If it has `jars`, only its `packages` are downloaded.
        storages: what its warehouses need.
        spark_version: version of the Spark that will run.
        environ: environment with `DBT_PAIMON_JARS`, which replaces the connector, whatever it would be otherwise.

    Raises:
        DbtRuntimeError: jars that do not exist; all in one message.
    """
    environ = os.environ if environ is None else environ
    override = _override(environ)
    own = [jar for jar in credentials.jars if not (override and _is_connector(jar))]
    _check_jars((JARS_VARIABLE, override), ("jars in the profile", own))
    _check_scala((*override, *own), credentials.packages, spark_version)
    _check_line((*override, *own), credentials.packages, spark_version)
    jars = (*override, *own)
    packages = [
        package for package in credentials.packages if not (override and _is_connector_package(package))
    ]

    version = (
        connector_version_from_jars(jars) or _version_of_packages(packages) or credentials.paimon_version
    )
    if not jars and not _version_of_packages(packages):
        packages.insert(0, capabilities.connector_artifact(spark_version, version))
    # Plug-ins that the connector does not contain: https://paimon.apache.org/docs/master/filesystems/overview/
    for storage in storages:
        store = storage.plug_in
        if store is None or _names_artifact(store.artifact, jars, packages):
            continue
        if not own:
            packages.append(f"{GROUP}:{store.artifact}:{version}")
        elif not _has_plug_in(store, jars, storage.around):
            raise DbtRuntimeError(_no_plug_in(store, storage.catalog, version))
    for protocol in sorted({storage.catalog.jdbc_protocol for storage in storages}):
        driver = capabilities.JDBC_DRIVERS.get(protocol)
        if driver and not own and not _names_artifact(driver.split(":")[1], jars, packages):
            packages.append(driver)
    reader = capabilities.kafka_artifact(spark_version)
    if credentials.kafka_options and not own and not _names_artifact(_plain(reader), jars, packages):
        packages.append(reader)
    return PackagePlan(jars, tuple(packages), tuple(credentials.repositories), version)


def with_connect(plan: PackagePlan, spark_version: str) -> PackagePlan:
    """The same plan plus the jar of Spark Connect's server, if it is missing."""
    if _names_artifact("spark-connect", plan.jars, plan.packages):
        return plan
    package = capabilities.connect_server_artifact(spark_version)
    if package is None:
        return plan
    return replace(plan, packages=(*plan.packages, package))


def effective_paimon_version(credentials: PaimonCredentials, environ: Mapping[str, str] | None = None) -> str:
    """The Paimon version that will really run: a connector's jar wins over the profile's `paimon_version`."""
    return connector_version(credentials, environ) or credentials.paimon_version


def connector_version(credentials: PaimonCredentials, environ: Mapping[str, str] | None = None) -> str | None:
    """The version of the connector in jars or packages; None if there is no connector among them."""
    override = _override(os.environ if environ is None else environ)
    named = connector_version_from_jars((*override, *credentials.jars))
    return named or (None if override else _version_of_packages(credentials.packages))


@contextmanager
def resolution_lock(plan: PackagePlan) -> Iterator[None]:
    """Let one process of a user at a time start a Spark that downloads packages.

    Ivy does not lock its cache: two processes that fill it at once (test workers, two dbt runs on a new machine) break
    each other's downloads. Without packages there is no lock.

    Raises:
        DbtRuntimeError: another process took too long, or the lock is a link or another user's file.
    """
    if not plan.packages or fcntl is None:
        yield
        return
    path = ivy_lock_path()
    try:
        file = open_own(path)
    except OSError as exc:
        raise DbtRuntimeError(
            f"The lock file {path} cannot be opened: {exc.strerror or exc}. Remove it, and start again."
        ) from exc
    with file as lock:
        # Closing the file releases the lock, also when this process dies.
        Wait(
            "another process of this user that resolves jars",
            _LONGEST_RESOLUTION,
            f"It holds {path} (fuser {path} names it): end it if it hangs, and start again.",
        ).until(lambda: _locked(lock))
        yield


def ivy_lock_path() -> Path:
    """This user's lock file, in a folder that other users cannot write.

    Raises:
        DbtRuntimeError: there is no such folder.
    """
    try:
        return cache_folder() / "ivy.lock"
    except OSError:
        return temporary_folder() / "ivy.lock"


def _locked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def connector_version_from_jars(jars: Iterable[str]) -> str | None:
    """The Paimon version of the Spark connector among some jars.

    Read from the jar (`pom.properties`, which also has the version of a SNAPSHOT build), else from the file's name.

    Returns:
        The version; None if no jar is a connector, or its version cannot be determined.
    """
    for jar in jars:
        path = _local_path(jar)
        version = _version_inside(path) if path is not None and path.is_file() else None
        if version is None and (named := _CONNECTOR_NAME.match(jar.rsplit("/", 1)[-1])):
            version = named.group("version")
        if version is not None:
            return version
    return None


def is_local_connector(jar: str) -> bool:
    """Whether a jar is a local file (not a URI) with Paimon's connector."""
    return Path(jar).is_absolute() and _is_connector(jar)


def unreachable_repositories(text: str) -> dict[str, str]:
    """Repositories that did not answer, by host, with the reason; empty if all answered but lacked a jar.

    Args:
        text: the JVM's output.
    """
    found = dict.fromkeys(_IVY_NO_HOST.findall(text), "its name is not known")
    found |= {host: why or kind for host, kind, why in _IVY_NO_ACCESS.findall(text)}
    found |= {host: f"HTTP status {status}" for status, host in _IVY_STATUS.findall(text) if status != "404"}
    found.pop(_SPARK_PACKAGES, None)
    return found


def explain_resolution_failure(text: str, spark_version: str) -> str:
    """The error for jars that Ivy could not download: reason and remedy.

    Args:
        text: the JVM's output.
        spark_version: version of the Spark that needs them.
    """
    missing = sorted({":".join(parts) for parts in _IVY_MISSING.findall(text)})
    what = ", ".join(missing) if missing else "a package of Spark's class path"
    if silent := unreachable_repositories(text):
        hosts = ", ".join(f"{host}: {why}" for host, why in sorted(silent.items()))
        return redact_text(
            f"The jars of {what} could not be fetched: no answer from {hosts}. Check the network; behind a proxy or a "
            "mirror, name it under `repositories` in the profile (or spark.jars.ivySettings in spark_config); without "
            f"a network, download the jars elsewhere and name their paths under `jars` or in {JARS_VARIABLE}: nothing "
            "is downloaded then."
        )
    if any(package.startswith("org.apache.spark:spark-connect_") for package in missing):
        return redact_text(
            f"{what}: no repository has the server of Spark Connect for PySpark {spark_version}. Install the newest "
            f"PySpark that it was tried with: {capabilities.install_command('connect')}; or name the jar, if you have "
            "it, under `jars` in the profile."
        )
    known = ", ".join(capabilities.releases(spark_version))
    return redact_text(
        f"{what}: there is no such jar; every repository answered, and none has it. Correct paimon_version (for Spark "
        f"{spark_version} there are {known}) or `packages` in the profile; if another repository has it, name that "
        "under `repositories`, and a jar that you have under `jars`."
    )


def _override(environ: Mapping[str, str]) -> tuple[str, ...]:
    parts = re.split(rf"[,{re.escape(os.pathsep)}]", environ.get(JARS_VARIABLE, ""))
    return tuple(str(Path(part.strip()).expanduser().absolute()) for part in parts if part.strip())


def _check_jars(*groups: tuple[str, Sequence[str]]) -> None:
    problems = []
    for origin, jars in groups:
        for jar in jars:
            path = _local_path(jar)
            if path is None:
                continue
            if not path.is_file():
                problems.append(f"{path} ({origin}) is not there")
            elif not zipfile.is_zipfile(path):
                problems.append(f"{path} ({origin}) is not a jar")
    if problems:
        raise DbtRuntimeError(
            f"Jars for Spark: {'; '.join(problems)}. "
            "Correct the paths, or leave them out to have Paimon's connector downloaded."
        )


def _check_scala(jars: Sequence[str], packages: Sequence[str], spark_version: str) -> None:
    """Refuse jars built for another Scala version than Spark's, for which Java's errors are unclear."""
    wanted = capabilities.scala_version(spark_version)
    found = {jar: _scala_of_jar(jar) for jar in jars} | {
        package: _scala_of_name(package.split(":")[1]) for package in packages
    }
    wrong = [
        f"{name} is made for Scala {scala}" for name, scala in found.items() if scala not in (None, wanted)
    ]
    if wrong:
        raise DbtRuntimeError(
            f"Jars for Spark: {'; '.join(wrong)}, and Spark {spark_version} runs on Scala {wanted}. Take the artifact "
            f"whose name ends in _{wanted} (Paimon's connector before 1.4 has no such ending), or leave the "
            "connector out to have the right one downloaded."
        )


def _check_line(jars: Sequence[str], packages: Sequence[str], spark_version: str) -> None:
    """Refuse a connector built for another minor version of Spark, whose internal classes differ."""
    line = capabilities.minor(capabilities.parse_version(spark_version))
    lines = {jar: capabilities.connector_line(_connector_of_jar(jar)) for jar in jars} | {
        package: capabilities.connector_line(package.split(":")[1])
        for package in packages
        if _is_connector_package(package)
    }
    wrong = [name for name, of in lines.items() if of not in (None, line)]
    if wrong:
        raise DbtRuntimeError(
            f"Jars for Spark: {', '.join(wrong)}: Paimon's connector for another Spark than {spark_version}. Take the "
            f"artifact paimon-spark-{line}, or leave the connector out to have the right one downloaded; or install "
            f"the Spark that it is for, `pip install 'pyspark=={lines[wrong[0]]}.*'`."
        )


def _connector_of_jar(jar: str) -> str:
    path = _local_path(jar)
    inside = _artifact_inside(path) if path is not None else ""
    return inside or jar.rsplit("/", 1)[-1]


def _scala_of_jar(jar: str) -> str | None:
    named = _scala_of_name(jar.rsplit("/", 1)[-1])
    path = _local_path(jar)
    if named is None and path is not None:
        return _scala_of_name(_artifact_inside(path))
    return named


def _scala_of_name(name: str) -> str | None:
    """The Scala version in the name of an artifact or a jar; None if there is none."""
    found = _SCALA_SUFFIX.search(name)
    if found is None and (connector := _CONNECTOR_LINE.match(name)):
        return capabilities.scala_version(connector.group(1))
    return found.group(1) if found else None


def _has_plug_in(store: ObjectStore, jars: Sequence[str], around: Surroundings) -> bool:
    """Whether a storage's plug-in is inside a jar, or on Spark's class path in another way."""
    inside = any((path := _local_path(jar)) is not None and carries(path, store) for jar in jars)
    return inside or around.has_jar(store.artifact)


def _no_plug_in(store: ObjectStore, catalog: SparkCatalog, version: str) -> str:
    where = f"https://repo1.maven.org/maven2/{GROUP.replace('.', '/')}/{store.artifact}/{version}"
    return (
        f"The warehouse {redact_text(catalog.warehouse or '')} needs Paimon's plug-in for {store.name}, and no jar of "
        f"the profile has it (with `jars` nothing is downloaded). Add {store.artifact}-{version}.jar to `jars` "
        f"({where}/{store.artifact}-{version}.jar), or {GROUP}:{store.artifact}:{version} to `packages`."
    )


def _local_path(jar: str) -> Path | None:
    if location_scheme(jar) not in ("file", "local"):
        return None
    return Path(re.sub(r"^(file|local):(//)?(?=/)", "", jar))


@lru_cache(maxsize=32)
def _connector_inside(path: Path) -> tuple[str, str | None] | None:
    """Artifact and version of the connector that a jar contains, whatever the file's name; cached per process."""
    try:
        with zipfile.ZipFile(path) as jar:
            name = next((name for name in jar.namelist() if _CONNECTOR_POM.match(name)), None)
            if name is None:
                return None
            found = _POM_VERSION.search(jar.read(name).decode(errors="replace"))
            return name.split("/")[3], found.group(1) if found else None
    except (OSError, zipfile.BadZipFile):
        return None


def _version_inside(path: Path) -> str | None:
    return (_connector_inside(path) or ("", None))[1]


def _artifact_inside(path: Path) -> str:
    return (_connector_inside(path) or ("", None))[0]


def _is_connector(jar: str) -> bool:
    path = _local_path(jar)
    return _CONNECTOR_NAME.match(jar.rsplit("/", 1)[-1]) is not None or (
        path is not None and path.is_file() and _version_inside(path) is not None
    )


def _is_connector_package(package: str) -> bool:
    group, artifact, _ = package.split(":")
    return group == GROUP and _CONNECTOR_ARTIFACT.match(artifact) is not None


def _version_of_packages(packages: Iterable[str]) -> str | None:
    return next((package.split(":")[2] for package in packages if _is_connector_package(package)), None)


def _plain(package: str) -> str:
    """A package's artifact without its Scala version."""
    return _SCALA_SUFFIX.sub("", package.split(":")[1])


def _names_artifact(artifact: str, jars: Iterable[str], packages: Iterable[str]) -> bool:
    name = re.compile(rf"{re.escape(artifact)}(_2\.1\d)?[-:]")
    return any(name.match(jar.rsplit("/", 1)[-1]) for jar in jars) or any(
        name.match(package.partition(":")[2]) for package in packages
    )
