"""Incremental clustering: `compact` sorts the new files of an append table, and leaves those that it has sorted."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities import Capability

EVENTS = """
{{ config(
    materialized='incremental', incremental_strategy='append',
    tblproperties={
        'clustering.columns': 'kind', 'clustering.incremental': true, 'num-sorted-run.compaction-trigger': 2,
        'write-only': true
    }
) }}
select id, cast(id * 7919 % 100 as int) as kind, {{ var('run', 1) }} as run
from range({{ 20000 if var('run', 1) == 1 else 100 }})
"""


@pytest.mark.needs(Capability.INCREMENTAL_CLUSTERING)
class TestClustering:
    @pytest.fixture(scope="class")
    def models(self):
        return {"events.sql": EVENTS}

    def test_only_new_files_are_sorted(self, project, rows):
        def kinds(run: int) -> dict[str, list[int]]:
            """The column of each file after a run and a compaction, in the order of its rows."""
            run_dbt(["run", "--vars", f"run: {run}"])
            run_dbt(["run-operation", "compact", "--args", "{relation: events}"])
            files = rows("select file_path from {schema}.`events$files`")
            return {path: pq.read_table(path)["kind"].to_pylist() for (path,) in files}

        (first,) = kinds(1).items()
        assert first[1] == sorted(first[1])
        kinds(2)
        later = kinds(3)
        assert later[first[0]] == first[1]
        assert all(found == sorted(found) for found in later.values())
        assert rows("select run, count(*) from {schema}.events group by run order by run") == [
            (1, 20000), (2, 100), (3, 100),
        ]  # fmt: skip
