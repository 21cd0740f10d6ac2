"""errors.md: the messages that the adapter gives before it sends SQL.

This module runs the cases of tests/unit/corpus to get their messages. Of messages that differ only in names and values,
the page shows the first.
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
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.capabilities.version_numbers import USUAL_SPARK
from dbt.adapters.paimon.config_keys import keys_of
from dbt.adapters.paimon.errors.messages import REMEDIES
from dbt.adapters.paimon.spec.config import PaimonConfig
from dbt.adapters.paimon.spec.foreign_config import INSTEAD, INSTEAD_IN_INCREMENTAL, LEAVE_OUT, READERS, is_foreign
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.tables.changeset import compute_changeset, refuse_rebuild
from dbt.adapters.paimon.tables.existing import ExistingTable
from reference.described_keys import DBT_KEYS
from reference.markdown import code, codes, plain, table

# What Paimon 0.9 itself does with a config that the adapter refuses.
_PAIMON: Final = {
    "refuses": "refuses it",
    "breaks": "a write or a read fails, or rows are lost",
    "ignores": "ignores it",
}
# What differs between messages of one kind: names, values, and the list of names at the end.
_VALUES: Final = re.compile(
    r"(?:Known|Its columns|Allowed|Did you mean|Use one of)\b.*|'[^']*'|\b\d[\w.]*|\([^)]*\)|\b(?:array|map|struct)<\S+"
    r"|\b(?:string|int|bigint|boolean|date|timestamp|binary|double|decimal)\b"
)
# Names under which messages are listed although they are not keys of this adapter.
_NO_KEYS: Final = ("column", "constraints", "event_time")
# Kinds of cases in first_day.yml whose messages do not depend on dbt's version.
_BEFORE_SPARK: Final = ("start", "java", "versions", "spark_home", "thrift", "import", "ivy", "jvm")
_PAGE: Final = """\
# Errors and warnings

The errors and warnings that dbt-paimon gives before it sends SQL, each with its remedy. `make reference` writes this
page from the mistakes in `tests/unit/corpus`, with Paimon 0.9.0 unless a message says otherwise. Of messages that
differ only in names and values, one is listed.

Errors of Spark come with the [line of your file](../results.md#where-an-error-is), and
[some](#what-is-added-to-sparks-errors) with a remedy. Streams have [their own](../streaming.md#when-it-fails).

## Profile

{profile}

## Before Spark starts

{before}

## Config

`model 'orders': merge_engine='upsert': not an allowed value. Allowed: …`: the model, the key and its value, what is
wrong, what to do. All mistakes of a node are in one message. *By itself* is what Paimon 0.9 does with this config
without dbt-paimon, if that was tried.

{config}

## Existing tables

Some changes need a new table, because no ALTER can make them ([config](../config.md#when-a-config-changes)): a
different key, different partition columns, and every option that is marked [*fixed*](paimon-options.md#options).

{rebuild}

## Warnings

The run continues. `--warn-error` turns warnings into errors.

{warnings}

## Keys of other adapters

A key of another adapter is ignored if it changes no rows, with a warning that names what to use instead
([packages](../packages.md#configs-of-other-adapters)).

{ignored}

These keys decide which rows a table has or who sees them, so they are refused. Keys of incremental models are refused
only in incremental models.

{refused}

## What is added to Spark's errors

These regular expressions are searched for in Spark's and Paimon's errors:

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
        ignored=table(("keys", "instead"), ((codes(keys.split()), instead) for instead, keys in INSTEAD.items())),
        refused=table(
            ("keys", "instead"),
            (
                (codes(keys.split()), instead)
                for instead, keys in {**INSTEAD_IN_INCREMENTAL, LEAVE_OUT: " ".join(READERS)}.items()
            ),
        ),
        added=table(("Spark or Paimon says", "dbt-paimon adds"), _added()),
    )


def cases() -> list[Case]:
    """The configs on the page: of those with the same message about the same key, only the first."""
    kept: dict[tuple[str, str], Case] = {}
    for case in corpus.bad():
        kept.setdefault((_heading(case), _VALUES.sub("…", message(case))), case)
    return list(kept.values())


def message(case: Case) -> str:
    """The adapter's message about a config, without the model, the key and the value."""
    try:
        case.plan()
    except ConfigErrors as errors:
        return errors.problems[0].removeprefix(f"model '{MODEL}': {case.where}: ")
    raise AssertionError(f"the config is accepted: {case.id}")


def _key(case: Case) -> str:
    """The config key that a message is about: 'fields' of "fields.v.aggregate_function='sum'"."""
    return re.split(r"[=.\[:]", case.where, maxsplit=1)[0]


def _heading(case: Case) -> str:
    """The key under which a message is listed; '' if it is not one of ours."""
    key = _key(case)
    return key if key in {*keys_of(PaimonConfig), *DBT_KEYS, *_NO_KEYS} else ""


def _configs() -> Iterator[str]:
    by_key: dict[str, list[Case]] = {}
    for case in cases():
        # Keys of other adapters have their own table.
        if not is_foreign(_key(case)):
            by_key.setdefault(_heading(case), []).append(case)
    others = by_key.pop("")
    for key, found in sorted(by_key.items()):
        yield f"### `{key}`\n\n{_config_table(found)}"
    yield f"### Names that are not config keys\n\n{_config_table(others)}"


def _config_table(found: list[Case]) -> str:
    if any(case.paimon in _PAIMON for case in found):
        rows = [(code(case.where), plain(message(case)), _PAIMON.get(case.paimon, "")) for case in found]
        return table(("config", "says", "by itself"), rows)
    return table(("config", "says"), [(code(case.where), plain(message(case))) for case in found])


def _profile() -> Iterator[tuple[str, str]]:
    for case in first_day.CASES:
        # Cases with a `type` are about an unknown adapter, which dbt itself reports.
        if case["kind"] == "profile" and "type" not in case["given"]:
            problem = _said(case).rpartition("- ")[2]
            key, _, says = problem.partition(": ")
            yield code(key), plain(says)


def _before_spark() -> Iterator[str]:
    for kind in _BEFORE_SPARK:
        yield from dict.fromkeys(_said(case) for case in first_day.CASES if case["kind"] == kind)


def _said(case: Mapping[str, Any]) -> str:
    """The message of a case, without the kind of error and without anything that depends on the machine."""
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
    """The messages about changes of existing tables; of messages that differ only in names and values, the first."""
    said: dict[str, str] = {}
    for change in corpus.changes():
        versions = Versions.of(change.get("version", "0.9.0"))
        spec = table_spec(change["config"], model=MODEL, versions=versions)
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
        # The advice has placeholders, for which `errors.messages` has values only after an error.
        advice = remedy.advice.format("…", tables="the tables")
        yield code(remedy.pattern), plain(advice)
