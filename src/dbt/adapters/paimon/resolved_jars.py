"""The jars that Ivy brought for some packages: a later start takes them from its cache, and asks Ivy nothing."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from dbt.adapters.paimon.cache_folder import cache_folder, fingerprint, stamp
from dbt.adapters.paimon.packages import EXCLUDES, PackagePlan


@lru_cache(maxsize=16)
def with_known(plan: PackagePlan, settings: tuple[str, ...] = ()) -> PackagePlan:
    """A plan whose packages are jars, if an earlier start resolved them and each is there as it was.

    Asked once in a process: its one JVM is started with the answer.

    Args:
        plan: the plan.
        settings: what else decides what Ivy brings (spark.jars.ivySettings, for example).
    """
    if not plan.packages:
        return plan
    with suppress(OSError, ValueError, KeyError, TypeError):
        jars = json.loads(_note(plan, settings).read_text())["jars"]
        if jars and all(list(stamp(path)) == [path, size, changed] for path, size, changed in jars):
            return replace(
                plan, jars=(*plan.jars, *(path for path, *_ in jars)), packages=(), repositories=()
            )
    return plan


def remember(plan: PackagePlan, class_path: str | None, settings: tuple[str, ...] = ()) -> None:
    """Keep what a Spark made of a plan's packages.

    Args:
        plan: as it was started with.
        class_path: `spark.jars` of the Spark that runs.
        settings: see `with_known`.
    """
    if not plan.packages:
        return
    own = {Path(_path(jar)).name for jar in plan.jars}
    found = [_path(jar) for jar in (class_path or "").split(",") if jar]
    with suppress(OSError):
        jars = [stamp(path) for path in dict.fromkeys(found) if Path(path).name not in own]
        # Ivy names the file of a package by it; whatever is not there now would be missed later.
        if all(
            any(package.split(":")[1] in Path(path).name for path, *_ in jars) for package in plan.packages
        ):
            note = _note(plan, settings)
            # Written beside and renamed: another process reads it whole or not at all.
            draft = note.with_suffix(f".{os.getpid()}")
            draft.write_text(json.dumps({"packages": plan.packages, "jars": jars}))
            draft.replace(note)


def _note(plan: PackagePlan, settings: tuple[str, ...]) -> Path:
    key = fingerprint([plan.packages, plan.repositories, EXCLUDES, *sorted(settings)])
    return cache_folder() / f"jars-{key}.json"


def _path(jar: str) -> str:
    return unquote(urlsplit(jar).path) if jar.startswith("file:") else jar
