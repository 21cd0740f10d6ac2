"""Whether a Maven package is on this machine or in a repository, as Spark's Ivy would find it.

Source: SparkSubmitUtils and MavenUtils, which search ~/.m2, ~/.ivy2/local, the user's repositories and Maven Central.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Final
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from dbt.adapters.paimon.catalogs.catalog import split_list

# Seconds that all repositories together may take to answer.
LONGEST_ANSWER: Final = 0.9
# Spark's own variable for a mirror of Maven Central.
CENTRAL_VARIABLE: Final = "DEFAULT_ARTIFACT_REPOSITORY"
_CENTRAL: Final = "https://repo1.maven.org/maven2/"


def repositories(named: Sequence[str], spark_config: Mapping[str, str]) -> tuple[str, ...]:
    """Where Ivy looks for a target's packages: the profile's addresses, then those in Ivy's settings, or Central."""
    settings = spark_config.get("spark.jars.ivySettings")
    others = _in_settings(settings) if settings else [os.environ.get(CENTRAL_VARIABLE) or _CENTRAL]
    return tuple(dict.fromkeys([*named, *split_list(spark_config.get("spark.jars.repositories", "")), *others]))


def is_here(package: str, spark_config: Mapping[str, str]) -> bool:
    """Whether Ivy finds a package (group:artifact:version) on this machine, without a repository."""
    group, artifact, version = package.split(":")
    home, own = Path.home(), spark_config.get("spark.jars.ivy")
    # Ivy's folder has a version in its name from Spark 4 on.
    folders = [Path(own).expanduser()] if own else list(home.glob(".ivy2*"))
    files = [
        home / ".m2" / "repository" / _path_of(package),
        *(folder / "cache" / group / artifact / "jars" / f"{artifact}-{version}.jar" for folder in folders),
        *(folder / "local" / group / artifact / version / "jars" / f"{artifact}.jar" for folder in folders),
    ]
    return any(file.is_file() for file in files)


def ask(packages: Sequence[str], addresses: Sequence[str]) -> dict[str, bool | None]:
    """For each package, whether a repository has it; None if that is unclear, because not all answered in time."""
    asked = [(package, address) for package in packages for address in addresses]
    answers: dict[tuple[str, str], bool | None] = dict.fromkeys(asked)

    def put(question: tuple[str, str]) -> None:
        answers[question] = _has(*question)

    # Daemon threads, because a name server that does not answer must not delay the end of dbt.
    threads = [Thread(target=put, args=(question,), daemon=True) for question in asked]
    end = time.monotonic() + LONGEST_ANSWER
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    found: dict[str, bool | None] = {}
    for package in packages:
        of_package = [answers[package, address] for address in addresses]
        found[package] = True if True in of_package else None if None in of_package else False
    return found


def _has(package: str, address: str) -> bool | None:
    """Whether one repository has a package; None without a clear answer."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        parts = urlsplit(f"{address.rstrip('/')}/{_path_of(package)}")
        if parts.scheme not in ("http", "https"):
            return Path(unquote(parts.path)).is_file()
        request = Request(parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(), method="HEAD")  # noqa: S310
        if parts.username:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            request.add_header("Authorization", f"Basic {base64.b64encode(login).decode()}")
        with urlopen(request, timeout=LONGEST_ANSWER):  # noqa: S310
            return True
    except HTTPError as exc:
        return False if exc.code in (404, 410) else None
    except (OSError, HTTPException, ValueError):
        return None


def _path_of(package: str) -> str:
    group, artifact, version = package.split(":")
    return f"{group.replace('.', '/')}/{artifact}/{version}/{artifact}-{version}.jar"


def _in_settings(file: str) -> Iterator[str]:
    """The roots of the Maven repositories in Ivy's settings file; those with variables are left out."""
    try:
        found = ElementTree.parse(unquote(urlsplit(file).path)).iter("ibiblio")  # noqa: S314 - the user's own file
    except (OSError, ElementTree.ParseError):
        return
    for resolver in found:
        root = resolver.get("root", _CENTRAL)
        if "${" not in root:
            yield root
