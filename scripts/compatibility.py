"""Writes docs/compatibility.md: the features of each version, from `capabilities`, and the results of test runs.

Usage: python scripts/compatibility.py [--check]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.capabilities.artifacts import first_release, releases, tested
from dbt.adapters.paimon.capabilities.version_numbers import RELEASES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "compatibility.md"
RESULTS = ROOT / "docs" / "compatibility"
# The Spark lines that the extras `session` and `spark4` install.
SPARKS = ("3.5", "4.1")
KINDS = ("filesystem", "hive", "jdbc", "rest")
# Beginning of a skip reason -> what the test is about.
_PLAIN = {
    "for versions without": "a test of the refusal on older versions",
    "no baseline": "what a run costs in statements and bytes",
    "one in CI": "most kills of the first run after an upgrade",
    "the corpus": "what Paimon 0.9 itself refuses",
}

_PAGE = """\
# Versions of Paimon and Spark

Which Paimon to take: [profile](profile.md#which-paimon). `dbt debug` shows the features of your own versions.

## Which connector for which Spark

{connectors}

`paimon_version` in the [profile](profile.md) chooses one. dbt-paimon can download the connector for Spark 4.0 (Paimon
1.2 and later), but it was not tested. Spark 3.4 and older are not supported: dbt-paimon needs PySpark 3.5, whose job
tags it uses to follow and cancel statements. CI runs 0.9.0; [what was tested](#what-was-tested) lists the others.
Versions that are not listed there were not run: what dbt-paimon knows about them comes from their source code.

## Without `paimon_version`

Without `paimon_version`, dbt-paimon tries the versions that have passed all functional tests, from the newest to the
oldest, and takes the first one whose connector it finds. If it finds no connector of these versions, it takes the
oldest version for this Spark. So the order is:
{default}.
It looks for the connector:

- on this machine, in Ivy's or Maven's cache;
- in a Maven repository: `repositories` in the profile, `spark.jars.repositories`, the roots in the file
  `spark.jars.ivySettings`, else Maven Central or its mirror in the variable `DEFAULT_ARTIFACT_REPOSITORY`. The file
  `spark-defaults.conf` is not read for this.

The repositories are asked once, and have less than a second to answer. The choice is kept for each warehouse in the
user's cache folder, `~/.cache/dbt-paimon`. If a repository does not answer, the run takes the version that is on this
machine, else {oldest}, and the next run asks again.

Each run logs its version, and the line that pins it: `paimon_version: "2.0.0"`. Pin it if several machines run one
project, because their repositories may differ. dbt-paimon 0.1.0 always took Paimon 0.9.0. To
stay on it, set `paimon_version: "0.9.0"`.

Without `paimon_version`, dbt-paimon does not write a warehouse with an older Paimon than the newest that has opened
it. The file `.dbt_paimon/paimon-version` in the warehouse names this newest version; with Paimon 0.9.0, dbt-paimon
does not write the file. On a local warehouse dbt-paimon takes the version of the file. On other storage, a run with an
older version fails before it writes. To go back to an older version, [set `paimon_version`](upgrades.md#paimon). There
is no such file for `rest` catalogs, and a Spark server or a warm server does not write it.

dbt-paimon cannot choose if Spark runs on a server, or if the names and contents of the `jars` show no version. It then
assumes 0.9.0, with a warning.

## What was tested

CI runs the tests that are not marked `full`, on Paimon 0.9.0 with Spark 3.5.7.
`make compat JARS=/path/to/connector.jar PYSPARK=4.1.1` runs the functional tests on another connector:

{tested}

## Features

Each cell is "yes", "no", or the kinds of catalog that have the feature. A node that asks for a missing feature is
refused before anything is written, and the message has the remedy.

{features}
"""


def page() -> str:
    """The whole page."""
    return _PAGE.format(
        connectors="\n".join(_connectors()),
        default="; ".join(f"on Spark {spark} {_tried(spark)}" for spark in SPARKS),
        oldest=_oldest(),
        tested="\n".join(_tested()),
        features="\n".join(_features()),
    )


def _connectors() -> Iterator[str]:
    yield "| Spark | Paimon |"
    yield "|---|---|"
    for spark in SPARKS:
        yield f"| {spark} | {', '.join(releases(spark))} |"


def _tried(spark: str) -> str:
    tried = ", else ".join(dict.fromkeys([*tested(spark), first_release(spark)]))
    return tried if tested(spark) else f"{tried}, on which [some tests are still to run](#what-was-tested)"


def _oldest() -> str:
    """The fallback release for the usual Spark, and in parentheses those for other Spark versions."""
    usual, *others = SPARKS
    return f"{first_release(usual)} ({'; '.join(f'on Spark {spark}: {first_release(spark)}' for spark in others)})"


def whole_runs() -> list[tuple[str, str]]:
    """The (Paimon, Spark) versions whose committed results include every functional test file and no failure."""
    found = _runs()
    every = {file for run in found for file in _files(run) if file.startswith("tests/functional/")}
    return [
        (run["paimon"], run["spark"])
        for run in found
        if every <= _files(run) and not any(sitting["totals"]["failed"] for sitting in run["sittings"])
    ]


def _runs() -> list[dict[str, Any]]:
    return sorted((json.loads(path.read_text()) for path in RESULTS.glob("*.json")), key=_order)


def _tested() -> Iterator[str]:
    found = _runs()
    if not found:
        yield "No results are committed yet."
        return
    yield "| Paimon | Spark | passed | failed | expected failures | skipped | commits |"
    yield "|---|---|---|---|---|---|---|"
    for run in found:
        sittings = run["sittings"]
        totals = [
            sum(sitting["totals"][name] for sitting in sittings) for name in ("passed", "failed", "xfailed", "skipped")
        ]
        commits = ", ".join(dict.fromkeys(sitting["commit"][:7] for sitting in sittings))
        yield f"| {run['paimon']} | {run['spark']} | {' | '.join(map(str, totals))} | {commits} |"
    yield ""
    yield "Some runs are split over several commits. For each test, the newest result counts."
    every = set().union(*map(_files, found))
    for run in found:
        if lacks := every - _files(run):
            folders = sorted({path.split("/")[2] for path in lacks})
            yield ""
            yield (
                f"Not run yet on Paimon {run['paimon']} with Spark {run['spark']}: {len(lacks)} of {len(every)} "
                f"files of tests, in {', '.join(folders)}."
            )
    for run in found:
        reasons = sorted(
            {
                sitting["reasons"][test]
                for sitting in run["sittings"]
                for test, outcome in sitting["tests"].items()
                if outcome == "skipped"
            }
        )
        if reasons:
            yield ""
            yield f"Tests that were skipped on Paimon {run['paimon']} with Spark {run['spark']}:"
            yield ""
            yield from (f"- {_one_line(reason)}" for reason in reasons)


def _files(run: dict[str, Any]) -> set[str]:
    return {test.partition("::")[0] for sitting in run["sittings"] for test in sitting["tests"]}


def _order(run: dict[str, Any]) -> tuple[list[int], str]:
    return [int(part) for part in run["paimon"].split(".")], run["spark"]


def _one_line(text: str) -> str:
    # Earlier results say "lacks" instead of "for versions without".
    reason = " ".join(text.split()).replace("lacks ", "for versions without ")
    return next((f"{plain} ({reason})" for start, plain in _PLAIN.items() if reason.startswith(start)), reason)


def _features() -> Iterator[str]:
    yield f"| feature | {' | '.join(RELEASES)} |"
    yield "|---|" + "---|" * len(RELEASES)
    columns = [_shown(release) for release in RELEASES]
    for label in columns[0]:
        yield f"| {label} | {' | '.join(column[label] for column in columns)} |"


def _shown(release: str) -> dict[str, str]:
    """Each feature of a release: 'yes', 'no', or the kinds of catalog that have it, on any Spark with a connector."""
    sparks = [spark for spark in SPARKS if release in releases(spark)]
    kinds: dict[str, list[str]] = {}
    for kind in KINDS:
        described = [Versions.of(release, spark, kind).describe() for spark in sparks]
        for features in zip(*described, strict=True):
            kinds.setdefault(features[0][0], []).extend([kind] if any(has for _, has, _ in features) else [])
    return {label: _cell(found) for label, found in kinds.items()}


def _cell(kinds: list[str]) -> str:
    if len(kinds) == len(KINDS):
        return "yes"
    return ", ".join(kinds) or "no"


if __name__ == "__main__":
    written = page()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != written:
            sys.exit("docs/compatibility.md is out of date: run `make compatibility`")
    else:
        PAGE.write_text(written)
