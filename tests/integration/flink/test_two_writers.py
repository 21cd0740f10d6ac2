"""dbt and a Flink job write one table at the same time: when this is safe, and when not."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.flink import TIMEOUT, Job, Session

pytestmark = pytest.mark.full
Rows = Callable[[str], list[tuple[Any, ...]]]

ROWS = 1500
HIGH = 1_000_000
GENERATED = f"""
create temporary table generated (id bigint) with (
  'connector' = 'datagen', 'rows-per-second' = '75',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{ROWS}')
"""
# Flink writes the keys 0 to 99 repeatedly. dbt's rows win for 0 to 49, Flink's for 50 to 99. Only dbt has 100 to 109.
SHARED = """
{{ config(materialized='incremental', primary_key='id', bucket=1, sequence_field='v' MORE) }}
select id, if(id between 50 and 99, -1L, 1000000L) * {{ var('step', 1) }} as v from range(110)
"""
# One partition: dbt writes the keys of two buckets, Flink those of the others. `n` counts writes, `v` is the latest.
BUCKETS = """
{{ config(materialized='incremental', primary_key=['part', 'id'], partition_by='part', bucket=4, merge_engine='aggregation',
    fields={'n': {'aggregate_function': 'sum'}, 'v': {'aggregate_function': 'last_value'}}, tblproperties={MORE}) }}
select 'one' as part, cast(trim(both '[]' from min_key) as bigint) as id, 1L as n,
  cast({{ var('step', 1) }} as bigint) as v
from {{ system_table(ref('keys'), 'files') }} where bucket < 2
"""
# A conflict ends Flink's job. It also fails dbt's run, which does not repeat a write of sums.
NO_SECOND_TRY = {"restart-strategy.type": "none"}
# Paimon's settings for asynchronous compaction: writes do not wait for merges.
ASYNCHRONOUS = "{'num-sorted-run.stop-trigger': '2147483647', 'sort-spill-threshold': '10', 'lookup-wait': 'false'}"
MODELS = {
    "partitions.sql": f"""
{{{{ config(materialized='incremental', primary_key=['part', 'id'], partition_by='part', bucket=1,
    changelog_producer='lookup', tblproperties={ASYNCHRONOUS}) }}}}
select 'dbt' as part, id, {{{{ var('step', 1) }}}} * 1000 + id as v from range(100)
""",
    # Finds each key's bucket: there is one file per key.
    "keys.sql": """
{{ config(materialized='incremental', primary_key=['part', 'id'], partition_by='part', bucket=4) }}
select id as part, id from range(40)
""",
    "buckets_compacted_by_both.sql": BUCKETS.replace("MORE", "'num-sorted-run.compaction-trigger': '2'"),
    "buckets_compacted_by_none.sql": BUCKETS.replace("MORE", "'write-only': 'true'"),
    "compacted_by_one.sql": SHARED.replace("MORE", ", tblproperties={'write-only': 'true'}"),
    "compacted_by_both.sql": SHARED.replace("MORE", ""),
    # Without compactions there are no conflicts, which would restart Flink's job.
    "at_once.sql": """
{{ config(materialized='incremental', primary_key='id', bucket=-1, dynamic_bucket={'target_row_num': 100, 'initial_buckets': 1},
    tblproperties={'write-only': 'true'}) }}
select id, {{ var('step', 1) }} as v from range({{ var('from', 0) }}, {{ var('to', 5) }})
""",
    # At most ten keys per bucket, so that there are several buckets.
    "alternating.sql": """
{{ config(materialized='incremental', primary_key='id', bucket=-1, dynamic_bucket={'target_row_num': 10, 'initial_buckets': 1}) }}
select id, {{ var('step', 1) }} as v from range({{ var('from', 0) }}, {{ var('to', 5) }})
""",
    "wanted.sql": """
{{ config(materialized='incremental', incremental_strategy='append') }}
select id from range(10, 60)
""",
}
# The commit identifier of batch commits; a streaming job's commits have the number of the checkpoint instead.
BATCH = 2**63 - 1
KINDS = "select commit_kind, count(*) from {{schema}}.`{}$snapshots` group by commit_kind"


def write(name: str, **variables: int) -> None:
    given = ", ".join(f"{key}: {value}" for key, value in variables.items())
    run_dbt(["run", "--select", name, "--vars", f"{{{given}}}"])


def until(done: Callable[[], object]) -> None:
    end = time.monotonic() + TIMEOUT
    while not done():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.5)


def runs_beside(job: Job, name: str) -> int:
    """Run dbt repeatedly until Flink's job is done; returns the last run's number."""
    step = 1
    while job.status == "RUNNING":
        step += 1
        write(name, step=step)
    job.wait()
    return step


def shared(step: int) -> list[tuple[int, int]]:
    """The expected rows after dbt's run `step`: for each key, the row with the highest sequence value."""
    of_flink = {number % 100: number for number in range(1, ROWS + 1)}
    return [(key, of_flink[key] if 50 <= key < 100 else HIGH * step) for key in range(110)]


class TestTwoWriters:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    @pytest.fixture(scope="class", autouse=True)
    def _first(self, project: Any, flink: Session) -> None:
        run_dbt(["run"])
        flink.define(GENERATED)
        flink.define(GENERATED, NO_SECOND_TRY)

    def test_a_partition_each(self, flink: Session, rows: Rows) -> None:
        query = "insert into {schema}.partitions select 'flink', mod(id, 100), id from generated"
        with flink.writing(query) as job:
            step = runs_beside(job, "partitions")
        assert step > 2
        found = {(part, key): value for part, key, value in rows("select part, id, v from {schema}.partitions")}
        of_flink = {("flink", number % 100): number for number in range(1, ROWS + 1)}
        assert found == {("dbt", key): step * 1000 + key for key in range(100)} | of_flink
        assert "COMPACT" in dict(rows(KINDS.format("partitions")))

    @pytest.mark.parametrize(
        ("table", "compacts"), [("buckets_compacted_by_both", True), ("buckets_compacted_by_none", False)]
    )
    def test_buckets_each_of_one_partition(self, flink: Session, rows: Rows, table: str, compacts: bool) -> None:
        """There are no conflicts: one would end Flink's job or fail dbt's run."""
        files = rows("select min_key, bucket from {schema}.`keys$files`")
        buckets = {int(key.strip("[]")): bucket for key, bucket in files}
        of_dbt, of_flink = [[key for key in buckets if (buckets[key] < 2) is dbts] for dbts in (True, False)]
        place = f"cast(mod(id, {len(of_flink)}) as int) + 1"
        with flink.writing(
            f"insert into {{schema}}.{table} "
            f"select 'one', cast(array{of_flink}[{place}] as bigint), cast(1 as bigint), id from generated",
            NO_SECOND_TRY,
        ) as job:
            step = runs_beside(job, table)
        assert step > 2
        sent = {number: of_flink[number % len(of_flink)] for number in range(1, ROWS + 1)}
        times = dict.fromkeys(of_dbt, step) | Counter(sent.values())
        last = dict.fromkeys(of_dbt, step) | {key: number for number, key in sent.items()}
        expected = [(key, times[key], last[key]) for key in sorted(buckets)]
        result = f"select id, n, v from {{schema}}.{table}"
        assert sorted(rows(result)) == expected

        # Each run of dbt makes one commit, and one more if it compacts. Flink's one job makes all others.
        commits = rows(f"select commit_user, commit_kind, commit_identifier from {{schema}}.`{table}$snapshots`")
        (flinks,) = {user for user, _, number in commits if number < BATCH}
        assert len({user for user, _, _ in commits if user != flinks}) == step
        kinds = Counter(kind for user, kind, _ in commits if user != flinks)
        assert kinds == Counter(APPEND=step, COMPACT=(step - 1) * compacts)
        kinds = Counter(kind for user, kind, _ in commits if user == flinks)
        assert set(kinds) == ({"APPEND", "COMPACT"} if compacts else {"APPEND"})

        # The keys are in the expected buckets, and a full compaction changes no row.
        flink.run(f"call sys.compact(`table` => '{flink.schema}.{table}')")
        in_bucket = [sorted(key for key in buckets if buckets[key] == number) for number in range(4)]
        files = rows(f"select bucket, min_key, max_key, record_count from {{schema}}.`{table}$files`")
        assert sorted(files) == [
            (number, f"[{found[0]}]", f"[{found[-1]}]", len(found)) for number, found in enumerate(in_bucket)
        ]
        assert sorted(rows(result)) == expected

    def test_one_bucket_that_a_third_compacts(
        self, project: Any, flink: Session, compactor: Session, rows: Rows
    ) -> None:
        compactor.go_on(f"call sys.compact(`table` => '{project.test_schema}.compacted_by_one')")
        with flink.writing(
            "insert into {schema}.compacted_by_one select mod(id, cast(100 as bigint)), id from generated"
        ) as job:
            step = runs_beside(job, "compacted_by_one")
        assert step > 2
        until(lambda: "COMPACT" in dict(rows(KINDS.format("compacted_by_one"))))
        assert sorted(rows("select id, v from {schema}.compacted_by_one")) == shared(step)

    def test_one_bucket_that_both_compact(self, flink: Session, rows: Rows) -> None:
        """After a conflict, dbt repeats its statement, and Flink's job restarts from its last checkpoint."""
        with flink.writing(
            "insert into {schema}.compacted_by_both select mod(id, cast(100 as bigint)), id from generated"
        ) as job:
            step = runs_beside(job, "compacted_by_both")
        assert step > 2
        assert sorted(rows("select id, v from {schema}.compacted_by_both")) == shared(step)

    def test_dynamic_buckets_one_after_the_other(self, flink: Session, rows: Rows) -> None:
        flink.run("insert into {schema}.alternating select id, 10 from {schema}.wanted")
        write("alternating", step=2, **{"from": 30, "to": 80})
        flink.run("insert into {schema}.alternating select id, 30 from {schema}.wanted where id >= 50")
        expected = dict.fromkeys(range(5), 1) | dict.fromkeys(range(10, 30), 10)
        expected |= dict.fromkeys(range(30, 50), 2) | dict.fromkeys(range(50, 60), 30) | dict.fromkeys(range(60, 80), 2)
        assert sorted(rows("select id, v from {schema}.alternating")) == sorted(expected.items())

    @pytest.mark.xfail(
        raises=AssertionError,
        reason="dynamic buckets take one writer: a job of Flink's reads the index of keys when it starts, so that a "
        "key which dbt adds afterwards gets another bucket, and is there twice",
    )
    def test_dynamic_buckets_at_once(self, flink: Session, rows: Rows) -> None:
        # Rows arrive every second, so each checkpoint has some. After a commit without rows, the job would read its
        # index of keys again.
        settings = {"execution.checkpointing.interval": "3 s"}
        flink.define(GENERATED, settings)
        count = "select count(*), count(distinct id) from {schema}.at_once"
        with flink.writing("insert into {schema}.at_once select id, 0 from generated", settings) as job:
            until(lambda: rows(count)[0][0] > 50)
            # Keys that the job has not yet written.
            write("at_once", step=2, **{"from": 1000, "to": ROWS + 1})
            if rows("select count(*) from {schema}.at_once where id >= 1000 and v = 0") != [(0,)]:
                raise TimeoutError
            job.wait()
        assert rows(count) == [(ROWS + 1, ROWS + 1)]
