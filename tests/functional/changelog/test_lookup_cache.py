"""`lookup.cache-max-memory-size`: pages that do not fit are read from the local lookup files again and again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession
from tests.functional.conftest import CONNECTOR

# Every 97th key, so that each is on a different page of the lookup file. Incompressible text fills the pages.
MODEL = """{{{{ config(materialized='incremental', primary_key='id', bucket=1, changelog_producer='lookup',
    tblproperties={{'lookup.cache-max-memory-size': '{size}'}}) }}}}
select id, {{{{ var('run') }}}} as run, concat(uuid(), uuid()) as text
from range(0, 100000, {{{{ 1 if var('run') == 1 else 97 }}}})
"""


class TestLookupCache:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {f"cache_{size}.sql": MODEL.format(size=size) for size in ("1mb", "256mb")}

    @pytest.fixture(scope="class")
    def bytes_read(self, project: object) -> dict[str, int]:
        """Model -> the bytes that Spark's process read from files while it rewrote a thousand of the model's keys."""
        run_dbt(["run", "--vars", "run: 1"])
        jvm = SparkSession.getActiveSession()._jvm  # type: ignore[union-attr]
        status = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/io")

        def so_far() -> int:
            return int(dict(line.split(": ") for line in status.read_text().splitlines())["rchar"])

        found = {}
        for model in ("cache_1mb", "cache_256mb"):
            before = so_far()
            run_dbt(["run", "--select", model, "--vars", "run: 2"])
            found[model] = so_far() - before
        return found

    def test_pages_that_do_not_fit_are_read_again(self, bytes_read: dict[str, int]) -> None:
        if CONNECTOR.major == 0:
            assert bytes_read["cache_1mb"] > 2 * bytes_read["cache_256mb"], bytes_read
        else:
            # Newer connectors sort their lookup files and the keys of a commit, so each page is needed only once.
            assert bytes_read["cache_1mb"] == pytest.approx(bytes_read["cache_256mb"], rel=0.1)

    def test_rows_and_changes_are_the_same(self, bytes_read: dict[str, int], rows: Callable) -> None:
        for model in bytes_read:
            found = rows(f"select run, count(*) from {{schema}}.{model} group by run order by run")
            assert found == [(1, 100_000 - 1031), (2, 1031)]
            changes = f"select sum(changelog_record_count) from {{schema}}.`{model}$snapshots`"
            assert rows(changes) == [(100_000 + 2 * 1031,)], "a new row, or -U and +U"
