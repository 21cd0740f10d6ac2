"""Remembers the jars that Ivy downloaded for some packages, so that later starts need not run Ivy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.machine.cache_folder import cache_folder, cache_key
from dbt.adapters.paimon.machine.private_files import read_own, write_own
from dbt.adapters.paimon.spark.launch.packages import EXCLUDES, PackagePlan

logger = AdapterLogger("Paimon")


class Jar(NamedTuple):
    """A jar as Ivy downloaded it.

    `stamp` has its size, modification time and status change time (`st_ctime_ns`). Only root can set the last one, so
    a file with the same stamp is unchanged.
    """

    path: str
    stamp: tuple[int, int, int]
    sha256: str


@lru_cache(maxsize=16)
def with_known(plan: PackagePlan) -> PackagePlan:
    """A plan with jars in place of its packages, if an earlier start resolved them and every jar is unchanged.

    Computed once per process, for its one JVM. Reading a jar takes 0.1 s or more, so the checksum is only compared
    if the stamp differs, for example after restoring a backup.

    Raises:
        DbtRuntimeError: a jar differs from what was downloaded and cannot be moved away.
    """
    if not plan.packages:
        return plan
    with suppress(OSError, ValueError, KeyError, TypeError):
        note = _note_path(plan)
        known = [Jar(path, tuple(stamp), sha256) for path, stamp, sha256 in json.loads(read_own(note))["jars"]]
        found = [_checked(jar) for jar in known]
        if found != known:
            _write(note, plan, found)
        if found:
            return replace(plan, jars=(*plan.jars, *(jar.path for jar in found)), packages=(), repositories=())
    return plan


def remember(plan: PackagePlan, class_path: str | None) -> None:
    """Remember the jars to which a Spark resolved a plan's packages; `class_path` is that Spark's `spark.jars`."""
    if not plan.packages:
        return
    downloaded = _downloaded(plan, class_path or "")
    names = "\n".join(Path(path).name for path in downloaded)
    # Ivy names a package's file after its artifact; without the file, a later start would lack the package.
    if all(package.split(":")[1] in names for package in plan.packages):
        with suppress(OSError):
            _write(_note_path(plan), plan, [Jar(path, _stamp(path), _sha256(path)) for path in downloaded])


def _downloaded(plan: PackagePlan, class_path: str) -> list[str]:
    own = {Path(_path(jar)).name for jar in plan.jars}
    paths = dict.fromkeys(_path(jar) for jar in class_path.split(",") if jar)
    return [path for path in paths if Path(path).name not in own]


def _checked(jar: Jar) -> Jar:
    """A jar with its current stamp; raises FileNotFoundError if the file is missing or its content differs."""
    stamp = _stamp(jar.path)
    if stamp == jar.stamp:
        return jar
    found = _sha256(jar.path)
    if found == jar.sha256:
        return jar._replace(stamp=stamp)
    _put_aside(jar, found)
    raise FileNotFoundError(jar.path)


def _put_aside(jar: Jar, found: str) -> None:
    """Move a changed jar away so that Ivy downloads it again; Ivy does not verify checksums in its cache."""
    path = Path(jar.path)
    # `jars/org_name-version.jar` is a copy of `cache/org/name/jars/name-version.jar`.
    copies = [
        copy
        for copy in path.parent.parent.glob("cache/*/*/*/*.jar")
        if path.name == f"{copy.parents[2].name}_{copy.name}" and _sha256(str(copy)) != jar.sha256
    ]
    for changed in (path, *copies):
        aside = changed.with_name(f"{changed.name}.changed")
        what = f"{changed} changed after it was downloaded: its SHA-256 is {found}, and was {jar.sha256}."
        try:
            changed.replace(aside)
        except OSError as exc:
            raise DbtRuntimeError(
                f"The jar {what} It cannot be moved away ({exc.strerror}): remove it, and start again; it is "
                "then downloaded again."
            ) from exc
        logger.warning(
            f"{what} It is downloaded again; the changed one is now {aside}. A jar of your own belongs under "
            "`jars` in the profile."
        )


def _stamp(path: str) -> tuple[int, int, int]:
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _write(note: Path, plan: PackagePlan, jars: Sequence[Jar]) -> None:
    # Renamed atomically: another process reads it completely or not at all.
    write_own(note, json.dumps({"packages": plan.packages, "jars": jars}))


def _note_path(plan: PackagePlan) -> Path:
    key = cache_key([plan.packages, plan.repositories, EXCLUDES, *sorted(plan.ivy)])
    return cache_folder() / f"jars-{key}.json"


def _path(jar: str) -> str:
    return unquote(urlsplit(jar).path) if jar.startswith("file:") else jar
