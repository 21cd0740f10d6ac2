"""Finds Paimon's connector among jars and Maven coordinates: its version, Spark line and Scala version."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from dbt.adapters.paimon import capabilities
from dbt.adapters.paimon.catalogs.catalog import location_scheme

GROUP = "org.apache.paimon"
_CONNECTOR_NAME = re.compile(r"^paimon-spark-\d+\.\d+(?:_2\.1\d)?-(?P<version>\d.*?)\.jar$")
_SCALA_SUFFIX = re.compile(r"_(2\.1\d)(?=-|$)")
_CONNECTOR_LINE = re.compile(r"^paimon-spark-(\d+\.\d+)(?=-\d|$)")
_CONNECTOR_ARTIFACT = re.compile(r"^paimon-spark-\d+\.\d+(_2\.1\d)?$")
_CONNECTOR_POM = re.compile(
    rf"^META-INF/maven/{re.escape(GROUP)}/paimon-spark-\d+\.\d+(_2\.1\d)?/pom\.properties$"
)
_POM_VERSION = re.compile(r"^version=(\S+)", re.MULTILINE)


def connector_version_from_jars(jars: Iterable[str]) -> str | None:
    """The Paimon version of the connector among some jars; None if there is none, or it is unknown.

    Read from the jar (`pom.properties`, which also has the version of a SNAPSHOT build), else from the file's name.
    """
    for jar in jars:
        path = local_path(jar)
        version = _version_inside(path) if path is not None and path.is_file() else None
        if version is None and (named := _CONNECTOR_NAME.match(jar.rsplit("/", 1)[-1])):
            version = named.group("version")
        if version is not None:
            return version
    return None


def version_of_packages(packages: Iterable[str]) -> str | None:
    """The Paimon version of the connector among some Maven coordinates; None if there is none."""
    return next((package.split(":")[2] for package in packages if is_connector_package(package)), None)


def is_local_connector(jar: str) -> bool:
    """Whether a jar is a local file (not a URI) with Paimon's connector."""
    return Path(jar).is_absolute() and is_connector(jar)


def is_connector(jar: str) -> bool:
    """Whether a jar is Paimon's connector, by its name or, for a local file, by its content."""
    path = local_path(jar)
    return _CONNECTOR_NAME.match(jar.rsplit("/", 1)[-1]) is not None or (
        path is not None and path.is_file() and _version_inside(path) is not None
    )


def is_connector_package(package: str) -> bool:
    """Whether a Maven coordinate is Paimon's connector."""
    group, artifact, _ = package.split(":")
    return group == GROUP and _CONNECTOR_ARTIFACT.match(artifact) is not None


def connector_of_jar(jar: str) -> str:
    """The artifact of the connector inside a jar, or the jar's file name."""
    path = local_path(jar)
    inside = _artifact_inside(path) if path is not None else ""
    return inside or jar.rsplit("/", 1)[-1]


def scala_of_jar(jar: str) -> str | None:
    """The Scala version of a jar, by its name or the connector inside; None if unknown."""
    named = scala_of_name(jar.rsplit("/", 1)[-1])
    path = local_path(jar)
    if named is None and path is not None:
        return scala_of_name(_artifact_inside(path))
    return named


def scala_of_name(name: str) -> str | None:
    """The Scala version in the name of an artifact or a jar; None if there is none."""
    found = _SCALA_SUFFIX.search(name)
    if found is None and (connector := _CONNECTOR_LINE.match(name)):
        return capabilities.scala_version(connector.group(1))
    return found.group(1) if found else None


def artifact_without_scala(package: str) -> str:
    """A package's artifact without its Scala version."""
    return _SCALA_SUFFIX.sub("", package.split(":")[1])


def local_path(jar: str) -> Path | None:
    """A jar's path on this machine; None for a URI of another scheme."""
    if location_scheme(jar) not in ("file", "local"):
        return None
    return Path(re.sub(r"^(file|local):(//)?(?=/)", "", jar))


def _version_inside(path: Path) -> str | None:
    return (_connector_inside(path) or ("", None))[1]


def _artifact_inside(path: Path) -> str:
    return (_connector_inside(path) or ("", None))[0]


@lru_cache(maxsize=32)
def _connector_inside(path: Path) -> tuple[str, str | None] | None:
    """Artifact and version of the connector in a jar, whatever the file's name; cached per process."""
    try:
        with zipfile.ZipFile(path) as jar:
            name = next((name for name in jar.namelist() if _CONNECTOR_POM.match(name)), None)
            if name is None:
                return None
            found = _POM_VERSION.search(jar.read(name).decode(errors="replace"))
            return name.split("/")[3], found.group(1) if found else None
    except (OSError, zipfile.BadZipFile):
        return None
