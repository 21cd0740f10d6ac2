"""apply_changes: the table ends up with the right rows, in whatever order the changes arrive."""

from __future__ import annotations

import random

import pytest
from dbt.tests.util import run_dbt

CONFIG = (
    "materialized='incremental', incremental_strategy='apply_changes', "
    "primary_key='id', rowkind_field='op', sequence_field='seq'"
)

# name -> (the changes of each run, the resulting rows). Each scenario has its own keys, so one model can run them all.
# The table is compacted after each run, which removes deletes from Paimon's files.
Change = tuple[object, ...]
SCENARIOS: dict[str, tuple[list[list[Change]], list[Change]]] = {
    "the first run keeps only the rows that are not deleted": (
        # 3 is deleted before it is inserted, in one run
        [[(1, "+I", 1, "a"), (2, "+I", 1, "b"), (3, "-D", 2, None), (3, "+I", 1, "c"), (2, "+U", 3, "B")]],
        [(1, "+I", 1, "a"), (2, "+U", 3, "B")],
    ),
    "insert, update, delete": (
        [
            [(1, "+I", 1, "a"), (2, "+I", 1, "b")],
            [(1, "-U", 4, "a"), (1, "+U", 4, "A"), (2, "-D", 4, None), (3, "+I", 4, "c")],
        ],
        [(1, "+U", 4, "A"), (3, "+I", 4, "c")],
    ),
    "a late update": ([[(1, "+U", 9, "new")], [(1, "+U", 5, "late")]], [(1, "+U", 9, "new")]),
    "a late delete": ([[(1, "+U", 9, "new")], [(1, "-D", 5, None)]], [(1, "+U", 9, "new")]),
    "an update that arrives after a newer delete": (
        [[(1, "+I", 1, "a")], [(1, "-D", 9, None)], [(1, "+U", 5, "late")]],
        [],
    ),
    "a delete before its insert": ([[(1, "-D", 9, None)], [(1, "+I", 5, "late")]], []),
    "inserted again": (
        [[(1, "+I", 1, "a")], [(1, "-D", 2, None)], [(1, "+I", 3, "again")]],
        [(1, "+I", 3, "again")],
    ),
    "a late update-before row (-U)": ([[(1, "+U", 3, "A")], [(1, "-U", 3, "a")]], [(1, "+U", 3, "A")]),
    "duplicates": (
        [
            [(1, "+I", 1, "a"), (2, "+I", 1, "b")],
            *[[(1, "+U", 4, "A"), (1, "+U", 4, "A"), (2, "-D", 4, None)]] * 2,
        ],
        [(1, "+U", 4, "A")],
    ),
    "a delete wins over an insert with the same sequence value": ([[(1, "+I", 4, "a")], [(1, "-D", 4, None)]], []),
    "a delete wins over a later row with the same sequence value": ([[(1, "-D", 4, None)], [(1, "+U", 4, "a")]], []),
    **{
        f"the row kinds as {name} writes them": (
            [
                [(1, insert, 1, "a"), (2, insert, 1, "b")],
                [*([(1, before, 2, "a")] if before else []), (1, after, 2, "A"), (2, delete, 2, None)],
            ],
            [(1, "+U", 2, "A")],
        )
        for name, insert, before, after, delete in [
            ("Paimon and Flink", "+I", "-U", "+U", "-D"),
            ("Delta", "insert", "update_preimage", "update_postimage", "delete"),
            ("Debezium", "c", None, "u", "d"),
            ("Debezium's snapshot", "r", None, "u", "d"),
            ("SQL", "INSERT", None, "Update", " DELETE "),
        ]
    },
}
OFFSETS = {name: 100 * (index + 1) for index, name in enumerate(SCENARIOS)}
ROWS = "select id, op, seq, word from {schema}.changed where id > 0 order by id"
DELETES = "select * from {schema}.changed__dbt_deletes order by id"
COMMITS = "select count(*) from {schema}.`changed$snapshots` where commit_kind <> 'COMPACT'"


def shifted(changes: list[Change], offset: int) -> list[Change]:
    return [(offset + int(str(change[0])), *change[1:]) for change in changes]


def run(index: int) -> list[Change]:
    """The changes of all scenarios in a run."""
    return [
        change
        for name, (runs, _) in SCENARIOS.items()
        for change in shifted(runs[index] if index < len(runs) else [], OFFSETS[name])
    ]


def literal(value: object) -> str:
    return "null" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def apply(*changes: Change, full_refresh: bool = False, expect_pass: bool = True):
    values = ", ".join(f"({', '.join(map(literal, change))})" for change in changes)
    flags = ["--full-refresh"] if full_refresh else []
    return run_dbt(["run", *flags, "--vars", str({"batch": values})], expect_pass=expect_pass)


class TestApplyChanges:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "changed.sql": f"{{{{ config({CONFIG}, bucket=1, post_hook='{{{{ compact(this) }}}}') }}}}\n"
            "select cast(id as int) as id, cast(op as string) as op, cast(seq as bigint) as seq, word\n"
            "from values {{ var('batch') }} as t(id, op, seq, word)"
        }

    @pytest.fixture(scope="class")
    def applied(self, project, rows):
        """The rows after all runs, and the number of commits after each run."""
        apply(*run(0))
        commits = [rows(COMMITS)[0][0]]
        for index in (1, 2):
            apply(*run(index))
            commits.append(rows(COMMITS)[0][0])
        return rows(ROWS), commits

    @pytest.mark.parametrize("name", SCENARIOS)
    def test_rows(self, applied, name):
        offset = OFFSETS[name]
        got = [row for row in applied[0] if offset < row[0] < offset + 100]
        assert got == shifted(SCENARIOS[name][1], offset)

    def test_a_run_is_one_commit(self, applied):
        assert applied[1] == [1, 2, 3]

    @pytest.mark.parametrize(
        ("change", "said", "full_refresh"),
        [
            ((-1, "upsert", 4, "A"), "unknown row kind 'upsert'", False),
            ((-1, "upsert", 4, "A"), "unknown row kind 'upsert'", True),
            ((-1, None, 4, "A"), "unknown row kind NULL", False),
            ((-1, "+U", None, "A"), "'seq' is NULL", False),
            ((None, "-D", 4, "A"), "'id' is NULL", False),
        ],
    )
    def test_what_is_no_change_is_refused_and_nothing_written(self, applied, rows, change, said, full_refresh):
        state = (ROWS, DELETES, "select max(snapshot_id) from {schema}.`changed$snapshots`")
        before = [rows(sql) for sql in state]
        (result,) = apply((-2, "-D", 9, None), change, full_refresh=full_refresh, expect_pass=False).results
        assert "model 'changed': rowkind_field='op'" in result.message
        assert said in result.message
        assert "\tat " not in result.message
        assert [rows(sql) for sql in state] == before

    def test_a_run_that_died_between_its_commits_is_repeated(self, applied, rows):
        apply((-1, "+I", 1, "a"), (-2, "+I", 1, "b"))
        state = "select id, word from {schema}.changed where id < 0 order by id"
        last = rows("select max(snapshot_id) from {schema}.`changed$snapshots`")[0][0]
        changes = [(-1, "-D", 4, None), (-2, "+U", 4, "B")]
        apply(*changes)
        # A run commits its deletes first. Rolling back only the table gives the state after a kill between the commits.
        run_dbt(["run-operation", "rollback_to", "--args", f"{{relation: changed, version: {last}}}"])
        assert rows(state) == [(-2, "b"), (-1, "a")]
        apply(*changes)
        assert rows(state) == [(-2, "B")]

    def test_a_rollback_of_the_table_and_of_its_deletes(self, applied, rows):
        apply((-3, "+I", 1, "a"))
        last = rows("select max(snapshot_id) from {schema}.`changed$snapshots`")[0][0]
        ((at,),) = rows("select cast(current_timestamp() as string)")
        apply((-3, "-D", 9, None))
        rollback = ["run-operation", "rollback_to", "--args"]
        run_dbt([*rollback, f"{{relation: changed, version: {last}}}"])
        run_dbt([*rollback, f"{{relation: changed__dbt_deletes, timestamp: '{at}'}}"])
        apply((-3, "+U", 5, "b"))
        assert rows("select word from {schema}.changed where id = -3") == [("b",)]

    def test_full_refresh_starts_the_order_again(self, applied, rows):
        apply((1, "-D", 1000, None))
        apply((1, "+I", 1, "reset"), full_refresh=True)
        assert rows(ROWS) == [(1, "+I", 1, "reset")]
        assert rows(DELETES) == []
        apply((1, "+U", 2, "on"))
        assert rows(ROWS) == [(1, "+U", 2, "on")]


CASES, RUNS, KEYS = 6, 3, 5
RANK = {"+I": 0, "+U": 1, "-D": 2}


def stream(seed: int) -> tuple[list[tuple[int, int, str, int, int, str]], list[tuple[int, str, str]]]:
    """A random stream of changes (duplicated, split into runs, and shuffled unless `seed` is 0), and the resulting rows.

    The sequence has two columns; some changes differ only in the second one.
    """
    rng = random.Random(seed)
    changes: list[tuple[int, str, int, int, str]] = []
    alive: set[int] = set()
    for position in range(40):
        key = rng.randrange(KEYS)
        kind = rng.choice(["+U", "-D"]) if key in alive else "+I"
        (alive.discard if kind == "-D" else alive.add)(key)
        changes.append((key, kind, position // 7, position % 7, f"{seed}.{position}"))
    newest = {key: max((c for c in changes if c[0] == key), key=lambda c: c[2:4]) for key in range(KEYS)}
    left = sorted((c[0], c[1], c[4]) for c in newest.values() if c[1] != "-D")
    arriving = changes + rng.sample(changes, 10)
    if seed:
        rng.shuffle(arriving)
    return [(rng.randrange(RUNS), *change) for change in arriving], left


# The delete's sequence value needs a wider type. Compaction removes the delete before the late row arrives.
WIDENED = f"""
{{{{ config({CONFIG}, bucket=1, on_schema_change='sync_all_columns', post_hook='{{{{ compact(this) }}}}') }}}}
select 1 as id, op, seq from values
  {{{{ ["('+I', 1)", "('-D', 5000000000L)", "('+U', 3000000000L)"][var('run')] }}}} as t(op, seq)
"""


class TestAnyOrder:
    """A stream in any order, split into runs in any way, gives the same rows as the whole stream in order.

    Odd-numbered cases are compacted in each run, which removes their deletes. Some have partitions or dynamic buckets.
    """

    @pytest.fixture(scope="class")
    def models(self):
        def model(case: int) -> str:
            hook = ", post_hook='{{ compact(this) }}'" if case % 2 else ""
            key = "['id', 'part'], partition_by='part'" if case % 3 == 2 else "'id'"
            config = CONFIG.replace("sequence_field='seq'", "sequence_field=['seq', 'sub']").replace("'id'", key)
            return (
                f"{{{{ config({config}, bucket={-1 if case % 4 == 0 else 2}{hook}) }}}}\n"
                "select id, id % 2 as part, op, seq, sub, word from {{ source('s', 'stream') }}\n"
                f"where case = {case} and run = {{{{ var('run') }}}}"
            )

        return {f"case_{case}.sql": model(case) for case in range(CASES)} | {
            "widened.sql": WIDENED,
            "s.yml": '{version: 2, sources: [{name: s, schema: "{{ target.schema }}", tables: [{name: stream}]}]}',
        }

    def test_any_order(self, project, rows):
        values = ", ".join(str((case, *change)) for case in range(CASES) for change in stream(case)[0])
        rows(
            "create table {schema}.stream (case int, run int, id int, op string, seq int, sub int, word string) "
            "using paimon"
        )
        rows(f"insert into {{schema}}.stream values {values}")
        for run in range(RUNS):
            run_dbt(["run", "--vars", f"run: {run}"])
        for case in range(CASES):
            assert rows(f"select id, op, word from {{schema}}.case_{case} order by id") == stream(case)[1], case

    def test_a_sequence_that_outgrows_its_type(self, project, rows):
        """Continues from the runs of the previous test."""
        table, deletes = "select * from {schema}.widened", "select * from {schema}.widened__dbt_deletes"
        assert rows(table) == [] and rows(deletes) == [(1, 5000000000)]
        for run in (0, 1):
            run_dbt(["run", "--full-refresh", "--select", "widened", "--vars", f"run: {run}"])
            assert rows(deletes) == [(1, 5000000000)][:run]


EXPIRING = (
    "{{ config(" + CONFIG + ", tblproperties={'record-level.expire-time': '30 d', 'record-level.time-field': 'seen'}, "
    "bucket=1, post_hook='{{ compact(this) }}') }}\n"
    "{% if is_incremental() %}select 1 as id, '-D' as op, 2 as seq, cast(null as int) as seen"
    "{% else %}select id, '+I' as op, 1 as seq, cast(unix_timestamp() as int) as seen from range(1, 3){% endif %}"
)


class TestExpiring:
    @pytest.fixture(scope="class")
    def models(self):
        return {"expiring.sql": EXPIRING}

    def test_a_delete_does_not_expire_before_its_row(self, project, rows):
        for _ in range(2):
            run_dbt(["run"])
        assert rows("select id from {schema}.expiring") == [(2,)]
