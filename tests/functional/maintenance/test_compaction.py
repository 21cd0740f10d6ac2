"""When a write also compacts, how a sorted compaction orders rows, and when a minor compaction does nothing."""

from __future__ import annotations

import itertools

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities import Capability

RUN = "{{ var('run', 1) }}"
KEYED = "materialized='incremental', primary_key='id', bucket=1"
EARLY = "'num-sorted-run.compaction-trigger': 3"
ROWS = 3000


def keyed(options: str) -> str:
    return f"{{{{ config({KEYED}, tblproperties={{{options}}}) }}}} select {RUN} as id"


def sorted_model(order: str, columns: str) -> str:
    """A model that writes unordered rows in three runs."""
    return (
        "{{ config(materialized='incremental', incremental_strategy='append', maintenance={'compact': "
        f"{{'order': '{order}', 'order_by': {columns}, 'small_files': 3}}}}) }}}} "
        f"select hash(id, {RUN}) as a, hash({RUN}, id, 7) as b from range({ROWS // 3})"
    )


def descents(values: list[int]) -> int:
    return sum(later < earlier for earlier, later in itertools.pairwise(values))


class TestCompaction:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "early.sql": keyed(EARLY),
            "stops.sql": keyed(f"{EARLY}, 'num-sorted-run.stop-trigger': 3"),
            "never_stops.sql": keyed(f"{EARLY}, 'num-sorted-run.stop-trigger': 1000"),
            "appended.sql": f"{{{{ config(materialized='incremental', incremental_strategy='append') }}}} select {RUN} as id",
            "late.sql": keyed("'num-sorted-run.compaction-trigger': 100"),
            "ordered.sql": sorted_model("order", "['a']"),
            "zordered.sql": sorted_model("zorder", "['a', 'b']"),
            "hilbert.sql": sorted_model("hilbert", "['a', 'b']"),
            "unordered.sql": "{{ config(materialized='incremental', incremental_strategy='append') }} "
            f"select hash(id, {RUN}) as a, hash({RUN}, id, 7) as b from range({ROWS // 3})",
        }

    @pytest.fixture(scope="class", autouse=True)
    def _runs(self, project):
        for run in range(1, 4):
            run_dbt(["run", "--vars", f"run: {run}"])
        for run in range(4, 8):
            run_dbt(
                [
                    "run",
                    "--vars",
                    f"run: {run}",
                    "--select",
                    "early",
                    "stops",
                    "never_stops",
                    "late",
                    "appended",
                ]
            )

    @pytest.fixture
    def kinds(self, rows):
        def read(table: str) -> str:
            found = rows(f"select commit_kind from {{schema}}.`{table}$snapshots` order by snapshot_id")
            return "".join(kind[0] for (kind,) in found)

        return read

    def test_a_write_compacts_when_runs_pile_up(self, kinds, rows):
        """num-sorted-run.compaction-trigger: a commit that finds this many sorted runs merges them."""
        assert kinds("late") == "A" * 7
        assert kinds("early") == "AAACAACAAC"
        assert rows("select distinct level from {schema}.`late$files`") == [(0,)]
        # By default, num-levels is the trigger plus one.
        assert max(rows("select level from {schema}.`early$files`")) == (3,)

    def test_rows_that_are_only_appended(self, kinds, rows):
        """Without a key, each row is written once; nothing is merged or compacted."""
        assert kinds("appended") == "A" * 7
        assert rows("select count(*), sum(record_count) from {schema}.`appended$files`") == [(7, 7)]
        assert kinds("early").count("C") == 3

    def test_a_batch_never_stops(self, kinds, rows):
        """num-sorted-run.stop-trigger makes a writer wait for compactions; a batch always waits for its own."""
        assert kinds("stops") == kinds("never_stops") == kinds("early")
        for table in ("stops", "never_stops", "late"):
            assert rows(f"select id from {{schema}}.{table} order by id") == [(n,) for n in range(1, 8)]

    def test_rows_are_in_order(self, rows):
        """Reads the rows in the order of the table's files."""
        found = {}
        for table in ("ordered", "unordered", "zordered", "hilbert"):
            lying = rows(f"select a from {{schema}}.{table}")
            assert len(lying) == ROWS
            found[table] = descents([a for (a,) in lying])
        assert found["ordered"] == 0
        assert found["unordered"] > ROWS / 3
        # Sorted by both columns together, so by neither alone.
        assert 0 < found["zordered"] < ROWS and 0 < found["hilbert"] < ROWS

    @pytest.mark.parametrize("table", ["zordered", "hilbert"])
    def test_neighbours_are_alike(self, rows, table):
        """On a space-filling curve, neighbouring rows have similar values in every column."""

        def gap(name: str) -> float:
            lying = rows(f"select a, b from {{schema}}.{name}")
            steps = itertools.pairwise(lying)
            return sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in steps) / len(lying)

        assert gap(table) < gap("unordered") / 10


class TestMinorCompaction:
    @pytest.fixture(scope="class")
    def models(self):
        options = "'write-only': true, 'num-sorted-run.compaction-trigger': 3"
        return {"minor.sql": keyed(options), "full.sql": keyed(options)}

    @pytest.mark.needs(Capability.COMPACT_STRATEGY)
    def test_it_leaves_large_files_alone(self, project, rows):
        for run in range(1, 3):
            run_dbt(["run", "--vars", f"run: {run}"])
        for table, strategy in (("minor", "minor"), ("full", "full")):
            arguments = f"{{relation: {table}, compact_strategy: {strategy}}}"
            run_dbt(["run-operation", "compact", "--args", arguments])
        # Two sorted runs are fewer than the trigger, so the minor compaction does nothing.
        assert rows("select count(*) from {schema}.`minor$files`") == [(2,)]
        assert rows("select count(*) from {schema}.`full$files`") == [(1,)]
