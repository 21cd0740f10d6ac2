"""Finds Paimon's connector among jars and Maven coordinates: its version, Spark line and Scala version."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from dbt.adapters.paimon.capabilities import artifacts
from dbt.adapters.paimon.catalogs.catalog import location_scheme

GROUP = "org.apache.paimon"
_CONNECTOR_NAME = re.compile(r"^paimon-spark-\d+\.\d+(?:_2\.1\d)?-(?P<version>\d.*?)\.jar$")
_SCALA_SUFFIX = re.compile(r"_(2\.1\d)(?=-|$)")
_CONNECTOR_LINE = re.compile(r"^paimon-spark-(\d+\.\d+)(?=-\d|$)")
_CONNECTOR_ARTIFACT = re.compile(r"^paimon-spark-\d+\.\d+(_2\.1\d)?$")
_CONNECTOR_POM = re.compile(rf"^META-INF/maven/{re.escape(GROUP)}/paimon-spark-\d+\.\d+(_2\.1\d)?/pom\.properties$")
_POM_VERSION = re.compile(r"^version=(\S+)", re.MULTILINE)


def connector_version_from_jars(jars: Iterable[str]) -> str | None:
    """The Paimon version of the connector among some jars; None without a connector, or if its version is unknown.

    Read from the jar (`pom.properties`, which also has the version of a SNAPSHOT build), else from the file's name.
    """
    for jar in jars:
        version = _connector_inside(jar)[1]
        if version is None and (named := _CONNECTOR_NAME.match(_file_name(jar))):
            version = named["version"]
        if version is not None:
            return version
    return None


def version_of_packages(packages: Iterable[str]) -> str | None:
    """The Paimon version of the connector among some Maven coordinates, or None."""
    return next((package.split(":")[2] for package in packages if is_connector_package(package)), None)


def is_connector(jar: str) -> bool:
    """Whether a jar is Paimon's connector, by its name or, for a local file, by its content."""
    return _CONNECTOR_NAME.match(_file_name(jar)) is not None or _connector_inside(jar)[1] is not None


def is_connector_package(package: str) -> bool:
    """Whether a Maven coordinate is Paimon's connector."""
    group, artifact, _ = package.split(":")
    return group == GROUP and _CONNECTOR_ARTIFACT.match(artifact) is not None


def connector_of_jar(jar: str) -> str:
    """The artifact of the connector inside a jar, or the jar's file name."""
    return _connector_inside(jar)[0] or _file_name(jar)


def scala_of_jar(jar: str) -> str | None:
    """The Scala version of a jar, by its name or the connector inside; None if unknown."""
    return scala_of_name(_file_name(jar)) or scala_of_name(_connector_inside(jar)[0])


def scala_of_name(name: str) -> str | None:
    """The Scala version in the name of an artifact or a jar, or None."""
    if found := _SCALA_SUFFIX.search(name):
        return found[1]
    connector = _CONNECTOR_LINE.match(name)
    return artifacts.scala_version(connector[1]) if connector else None


def artifact_without_scala(package: str) -> str:
    """A package's artifact without its Scala version."""
    return _SCALA_SUFFIX.sub("", package.split(":")[1])


def local_path(jar: str) -> Path | None:
    """A jar's path on this machine; None for a URI of another scheme."""
    if location_scheme(jar) not in ("file", "local"):
        return None
    return Path(re.sub(r"^(file|local):(//)?(?=/)", "", jar))


def _file_name(jar: str) -> str:
    return jar.rsplit("/", 1)[-1]


def _connector_inside(jar: str) -> tuple[str, str | None]:
    """Artifact and version of the connector in a local jar, whatever the file's name; '' and None without one."""
    path = local_path(jar)
    return _read_connector(path) if path is not None and path.is_file() else ("", None)


@lru_cache(maxsize=32)
def _read_connector(path: Path) -> tuple[str, str | None]:
    with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as jar:
        for name in jar.namelist():
            if _CONNECTOR_POM.match(name):
                found = _POM_VERSION.search(jar.read(name).decode(errors="replace"))
                return name.split("/")[3], found[1] if found else None
    return "", None
