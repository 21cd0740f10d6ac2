"""Paimon itself refuses, breaks on or ignores the bad configs of the corpus, and accepts the good ones.

Spark creates a table from each config, without the adapter's checks. Two commits write the same row, so that merge
functions have something to merge, and a query reads the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from dbt.tests.util import get_connection
from dbt_common.exceptions import DbtDatabaseError
from tests.functional.conftest import CONNECTOR
from tests.unit import corpus
from tests.unit.corpus import Case, column_table, remedies

from dbt.adapters.paimon.capabilities.version_numbers import options_versions
from dbt.adapters.paimon.options.table_options import normalize
from dbt.adapters.paimon.spec.components import GROUPED_KEYS, OPTION_KEYS
from dbt.adapters.paimon.spec.foreign_config import is_table_format
from dbt.adapters.paimon.sql.text import quoted, string_literal

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(options_versions(CONNECTOR)[0] != "0.9", reason="the corpus says what Paimon 0.9 does"),
]

# Only every n-th good case is written and read; all tests here take about three minutes.
ONE_IN = 2

COLUMNS = ("id", "name", "v", "w", "n", "d", "ts", "dt", "op")


def told(case: Case, of: str) -> bool:
    """Whether a case is for Paimon 0.9 and has the outcome `of` ('' for a good config)."""
    return case.version == "0.9.0" and case.paimon == of


def as_texts(value: Any) -> list[str]:
    return [part.strip() for item in (value if isinstance(value, list) else [value]) for part in str(item).split(",")]


class Tables:
    """Creates the table of a case, writes it and reads it."""

    def __init__(self, project: Any) -> None:
        self.adapter = project.adapter
        self.schema = f"paimon.{quoted(project.test_schema)}"
        self.count = 0

    def run(self, sql: str) -> list[Any]:
        with get_connection(self.adapter):
            return self.adapter.query(sql)

    def create(self, case: Case) -> str:
        """Create the case's table and return its name."""
        self.count += 1
        table = f"{self.schema}.case_{self.count}"
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in self.columns(case).items())
        by = case.config.get("partition_by") or []
        partitions = as_texts(by["field"] if isinstance(by, Mapping) else by)
        parts = [f"create table {table} ({columns}) using paimon"]
        properties = self.properties(case.config)
        partitions += as_texts(properties.pop("partition")) if "partition" in properties else []
        if partitions:
            parts.append(f"partitioned by ({', '.join(quoted(name) for name in partitions)})")
        if properties:
            listed = ", ".join(f"{string_literal(k)} = {string_literal(v)}" for k, v in properties.items())
            parts.append(f"tblproperties ({listed})")
        self.run(" ".join(parts))
        return table

    def write_and_read(self, case: Case, table: str) -> list[Any]:
        values = ", ".join(
            f"cast({column_table()[name][1] if name in column_table() else '1'} as {kind})"
            for name, kind in self.columns(case).items()
        )
        for _ in range(2):
            self.run(f"insert into {table} values ({values})")
        return self.run(f"select * from {table}")

    def columns(self, case: Case) -> Mapping[str, str]:
        """The columns of a case's table; if it has many, only id, name, v and those that the config names."""
        types = dict(case.columns)
        if "id" not in types or len(types) < len(COLUMNS):
            return types
        spoken = str(case.config).lower()
        named = {name for name in types if f"'{name}'" in spoken or f"'{name}," in spoken or f".{name}." in spoken}
        named |= {name for name in types if f",{name}'" in spoken or f" {name}'" in spoken or f"{name}, " in spoken}
        return {name: kind for name, kind in types.items() if name in ("id", "name", "v") or name in named}

    @staticmethod
    def properties(config: Mapping[str, Any]) -> dict[str, str]:
        found = {name: config[key] for key, name in OPTION_KEYS.items() if config.get(key) is not None}
        if found.get("file.format") == "" or is_table_format(found.get("file.format")):
            del found["file.format"]
        if "merge-engine" in found:
            found["merge-engine"] = str(found["merge-engine"]).lower().replace("_", "-")
        for group, (keys, _) in GROUPED_KEYS.items():
            for key, value in (config.get(group) or {}).items():
                if value is not None:
                    found[keys[key].option] = value
        for column, settings in (config.get("fields") or {}).items():
            for key, value in (settings or {}).items():
                if value is not None:
                    attribute = key.replace("_", "-").replace("aggregateFunction", "aggregate-function")
                    found[f"fields.{column}.{attribute}"] = value
        found |= {k: v for k, v in (config.get("tblproperties") or {}).items() if v is not None}
        lists = ("primary-key", "partition", "bucket-key", "sequence.field")
        return {
            name: ",".join(as_texts(value)) if name in lists or name.endswith("-group") else normalize(value)
            for name, value in found.items()
        }


@pytest.fixture(scope="class")
def models():
    return {}


@pytest.fixture(scope="class")
def tables(project):
    tables = Tables(project)
    tables.run(f"create database if not exists {tables.schema}")
    return tables


class TestRules:
    def test_what_paimon_refuses_at_once(self, tables):
        cases = [case for case in corpus.bad() if told(case, "refuses")]
        taken = [case.id for case in cases if self.refusal(tables, case) is None]
        assert not taken, "\n".join(taken)
        assert len(cases) >= 100

    def test_what_breaks_when_rows_are_written_or_read(self, tables):
        cases = [case for case in corpus.bad() if told(case, "breaks")]
        worked = [case.id for case in cases if self.fault(tables, case) is None]
        assert not worked, "\n".join(worked)
        assert len(cases) >= 95

    def test_what_paimon_takes_without_a_word_and_ignores(self, tables):
        """The adapter has to check these, because Paimon ignores them silently."""
        cases = [case for case in corpus.bad() if told(case, "ignores")]
        refused = {case.id: why for case in cases if (why := self.refusal(tables, case))}
        assert not refused, refused
        assert len(cases) >= 100

    def test_what_passes_is_taken_written_and_read(self, tables):
        cases = [case for case in corpus.good() if told(case, "") and case.config][::ONE_IN]
        broken = {case.id: why for case in cases if (why := self.fault(tables, case))}
        assert not broken, broken
        assert len(cases) >= 90

    def test_paimon_accepts_the_remedies(self, tables):
        """Also writes and reads some tables: those whose remedy changes no columns and is not a list of names."""
        typed = {
            str(after.config): (case, after)
            for case in corpus.bad()
            for after in remedies.typed(case)
            if after.version == case.version == "0.9.0" and not remedies.problem_of(after)
        }
        # Paimon does not know `auto`, which is the adapter's own value.
        cases = [pair for pair in typed.values() if pair[1].config.get("bucket") != "auto"]
        refused = {after.id: why for _, after in cases if (why := self.refusal(tables, after))}
        written = [b for a, b in cases if b.columns == a.columns and not remedies.is_choice(a)][:: ONE_IN * 4]
        broken = {after.id: why for after in written if (why := self.fault(tables, after))}
        assert not refused | broken, refused | broken
        assert len(cases) >= 400

    @staticmethod
    def refusal(tables: Tables, case: Case) -> str | None:
        """The error of CREATE TABLE, if any."""
        try:
            tables.create(case)
        except DbtDatabaseError as exc:
            return said(exc)
        return None

    @staticmethod
    def fault(tables: Tables, case: Case) -> str | None:
        """The error of creating, writing or reading the table, if any."""
        try:
            rows = tables.write_and_read(case, tables.create(case))
        except DbtDatabaseError as exc:
            return said(exc)
        return None if rows else "no rows"


def said(error: DbtDatabaseError) -> str:
    """Paimon's error message. A syntax error is raised: it is a bug in this test."""
    if "PARSE_SYNTAX" in str(error):
        raise error
    return str(error)[:300]
