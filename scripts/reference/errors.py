"""errors.md: what the adapter says before it sends SQL.

The messages are those that the cases of tests/unit/corpus get from the adapter when the page is written. One of several
messages that differ in names and values only is shown.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark import __version__
from tests.unit import corpus
from tests.unit.corpus import MODEL, Case, first_day

from dbt.adapters.paimon.capabilities import USUAL_SPARK, Versions
from dbt.adapters.paimon.errors.messages import REMEDIES
from dbt.adapters.paimon.keys import keys_of
from dbt.adapters.paimon.spec.build import build_table_spec
from dbt.adapters.paimon.spec.config import PaimonConfig
from dbt.adapters.paimon.spec.foreign_config import ALWAYS, IN_INCREMENTAL, LEFT_OUT, is_foreign
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.spec.strategies import DBT_KEYS
from dbt.adapters.paimon.tables.changeset import ExistingTable, compute_changeset, refuse_rebuild
from reference.markdown import code, codes, plain, table

# What Paimon 0.9 does with such a table.
_PAIMON: Final = {
    "refuses": "refuses it",
    "breaks": "a write or a read fails, or rows are lost",
    "ignores": "ignores it",
}
# Names and values of a message, and lists of names at its end.
_VALUES: Final = re.compile(
    r"(?:Known|Its columns|Allowed|Did you mean|Use one of)\b.*|'[^']*'|\b\d[\w.]*|\([^)]*\)|\b(?:array|map|struct)<\S+"
    r"|\b(?:string|int|bigint|boolean|date|timestamp|binary|double|decimal)\b"
)
# Not this adapter's keys; what else a message may be about.
_NO_KEYS: Final = ("column", "constraints", "event_time")
# Of first_day.yml: what needs no dbt of a certain version to be said.
_BEFORE_SPARK: Final = ("start", "java", "versions", "spark_home", "thrift", "import", "ivy", "jvm")
_PAGE: Final = """\
# Errors and warnings

What dbt-paimon says before it sends SQL, with the remedy. `make reference` writes this page: the messages are those
that the adapter gives to the mistakes in `tests/unit/corpus`, with Paimon 0.9.0 unless they say otherwise. Of messages
that differ only in names and values, one is here.

Errors of Spark come with the [line of your file](../results.md#where-an-error-is), and
[some](#what-is-added-to-sparks-errors) with a remedy. Streams have [their own](../streaming.md#when-it-fails).

## Profile

{profile}

## Before Spark starts

{before}

## Config

`model 'orders': merge_engine='upsert': not an allowed value. Allowed: …`: the model, the key and its value, what is
wrong, what to do. All mistakes of a node are in one message. *By itself* says what Paimon 0.9 does with such a table,
if that was tried.

{config}

## A table that is there

What no ALTER can change needs a new table ([config](../config.md#when-a-config-changes)). So it is with key, partitions
and what is [*fixed*](paimon-options.md#options):

{rebuild}

## Warnings

The run goes on. `--warn-error` makes errors of them.

{warnings}

## Keys of other adapters

A key that a package brings along, and that does not change rows, is ignored with a warning, which says what to use
instead ([packages](../packages.md#configs-of-other-adapters)).

{ignored}

These decide which rows there are or who sees them, and are refused; those of an incremental model only there.

{refused}

## What is added to Spark's errors

Searched in Spark's and Paimon's error as regular expressions:

{added}
"""


def page() -> str:
    """The whole page."""
    return _PAGE.format(
        profile=table(("in the profile", "says"), _profile()),
        before=table(("says",), ((plain(said),) for said in _before_spark())),
        config="\n\n".join(_configs()),
        rebuild=table(("says",), ((plain(said),) for said in _changes())),
        warnings=table(("config", "says"), _warnings()),
        ignored=table(
            ("keys", "of", "instead"), ((codes(keys.split()), of, instead) for of, instead, keys in LEFT_OUT)
        ),
        refused=table(
            ("key", "of", "instead"),
            ((code(key), of, instead) for key, (of, instead) in {**IN_INCREMENTAL, **ALWAYS}.items()),
        ),
        added=table(("Spark or Paimon says", "dbt-paimon adds"), _added()),
    )


def cases() -> list[Case]:
    """The configs on the page: of those with the same message about the same key, the first."""
    kept: dict[tuple[str, str], Case] = {}
    for case in corpus.bad():
        kept.setdefault((_heading(case), _VALUES.sub("…", message(case))), case)
    return list(kept.values())


def message(case: Case) -> str:
    """What the adapter says of a config, without the model, the key and the value."""
    try:
        case.plan()
    except ConfigErrors as errors:
        return errors.problems[0].removeprefix(f"model '{MODEL}': {case.where}: ")
    raise AssertionError(f"it is taken: {case.id}")


def _key(case: Case) -> str:
    """The config key that a message is about: 'fields' of "fields.v.aggregate_function='sum'"."""
    return re.split(r"[=.\[:]", case.where, maxsplit=1)[0]


def _heading(case: Case) -> str:
    """The key under which a message stands; '' for those that are none of ours."""
    key = _key(case)
    return key if key in {*keys_of(PaimonConfig), *DBT_KEYS, *_NO_KEYS} else ""


def _configs() -> Iterator[str]:
    by_key: dict[str, list[Case]] = {}
    for case in cases():
        # Those of other adapters have a table of their own.
        if not is_foreign(_key(case)):
            by_key.setdefault(_heading(case), []).append(case)
    others = by_key.pop("")
    for key, found in sorted(by_key.items()):
        yield f"### `{key}`\n\n{_config_table(found)}"
    yield f"### Keys that are none\n\n{_config_table(others)}"


def _config_table(found: list[Case]) -> str:
    if any(case.paimon in _PAIMON for case in found):
        rows = [(code(case.where), plain(message(case)), _PAIMON.get(case.paimon, "")) for case in found]
        return table(("config", "says", "by itself"), rows)
    return table(("config", "says"), [(code(case.where), plain(message(case))) for case in found])


def _profile() -> Iterator[tuple[str, str]]:
    for case in first_day.CASES:
        # Which adapters there are is dbt's to say.
        if case["kind"] == "profile" and "type" not in case["given"]:
            problem = _said(case).rpartition("- ")[2]
            key, _, says = problem.partition(": ")
            yield code(key), plain(says)


def _before_spark() -> Iterator[str]:
    for kind in _BEFORE_SPARK:
        yield from dict.fromkeys(_said(case) for case in first_day.CASES if case["kind"] == kind)


def _said(case: Mapping[str, Any]) -> str:
    """The message of a case, without the kind of error, and the same on each machine."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        said = first_day.message(case, Path(folder), patch)
    said = said.split("Error\n", 1)[-1]
    for here, everywhere in (
        (folder, "/folder"),
        (sys.executable, "/venv/bin/python"),
        (__version__, USUAL_SPARK),
    ):
        said = said.replace(here, everywhere)
    return " ".join(said.split())


def _changes() -> Iterator[str]:
    """What is said of changes to tables that are there; of those that differ in names and values, once."""
    said: dict[str, str] = {}
    for change in corpus.changes():
        versions = Versions.of(change.get("version", "0.9.0"))
        spec = build_table_spec(change["config"], model=MODEL, versions=versions)
        given = change.get("table", {})
        there = ExistingTable(
            tuple(given.get("primary_key", ())),
            tuple(given.get("partition_by", ())),
            given.get("options", {}),
        )
        with pytest.raises(DbtRuntimeError) as raised:
            refuse_rebuild("model", MODEL, compute_changeset(spec, there, versions))
        message = raised.value.msg
        said.setdefault(re.sub(r"[\w.-]+: (?:not set|'.*?') -> (?:not set|'.*?')", "…", message), message)
    return iter(said.values())


def _warnings() -> Iterator[tuple[str, str]]:
    for case in corpus.warned():
        (said,) = case.told(case.versions[0])
        yield code(case.where), plain(said.removeprefix(f"model '{MODEL}': {case.where}: "))


def _added() -> Iterator[tuple[str, str]]:
    for remedy in REMEDIES:
        # `errors.messages` fills these in.
        advice = remedy.advice.format("…", tables="the tables")
        yield code(remedy.pattern), plain(advice)
