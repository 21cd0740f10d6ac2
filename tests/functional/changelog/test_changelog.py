"""What `$audit_log` and incremental queries show for each changelog producer."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt
from tests.functional.conftest import CONNECTOR

from dbt.adapters.paimon.capabilities import Capability, Versions

COMPACTS_ITSELF = Versions.of(CONNECTOR).supports(Capability.FULL_COMPACTION_ON_WRITE)
SHOWS_LEVEL_0 = Versions.of(CONNECTOR).supports(Capability.INCREMENTAL_QUERY_OF_LEVEL_0)

MESSAGES = {
    # Both products end at 5: one was at 4, the other at 6.
    "stock": ["(1, 4), (2, 6)", "(1, 5), (2, 5)"],
    "changes": ["(1, 4, '+I'), (2, 6, '+I')", "(1, 4, '-U'), (1, 5, '+U'), (2, 6, '-U'), (2, 5, '+U')"],
    "parts": ["(1, 4, cast(null as int))", "(1, cast(null as int), 5)"],
    "sales": ["(1, 4)", "(1, 5)"],
}
COLUMNS = {"stock": "id, n", "changes": "id, n, op", "parts": "id, n, m", "sales": "id, n"}
LOOKUP = "changelog_producer='lookup'"
FULL = "changelog_producer='full-compaction'"
COMPACT = "post_hook='{{ compact(this) }}'"

FIRST = {("+I", 1, 4), ("+I", 2, 6)}
COMPLETE = [FIRST, {("-U", 1, 4), ("+U", 1, 5), ("-U", 2, 6), ("+U", 2, 5)}]
LATEST = [FIRST, {("+I", 1, 5), ("+I", 2, 5)}]

# name -> (messages, config, the changes of each commit that shows any)
TABLES: dict[str, tuple[str, str, list[set[tuple[Any, ...]]]]] = {
    "none": ("stock", "changelog_producer='none'", LATEST),
    "input": ("changes", "changelog_producer='input', rowkind_field='op'", COMPLETE),
    # `input` shows messages as they were written, so incomplete changes stay incomplete.
    "incomplete_input": ("stock", "changelog_producer='input'", LATEST),
    "lookup": ("stock", f"{LOOKUP}, tblproperties={{'lookup.cache-max-memory-size': '16 mb'}}", COMPLETE),
    "full_compaction": ("stock", f"{FULL}, {COMPACT}", COMPLETE),
    "partial": (
        "parts",
        f"{LOOKUP}, merge_engine='partial-update'",
        [{("+I", 1, 4, None)}, {("-U", 1, 4, None), ("+U", 1, 4, 5)}],
    ),
    "partial_input": (
        "parts",
        "changelog_producer='input', merge_engine='partial-update'",
        [{("+I", 1, 4, None)}, {("+I", 1, None, 5)}],
    ),
    "total": (
        "sales",
        f"{LOOKUP}, merge_engine='aggregation', fields={{'n': {{'aggregate_function': 'sum'}}}}",
        [{("+I", 1, 4)}, {("-U", 1, 4), ("+U", 1, 9)}],
    ),
    "first_row_none": (
        "sales",
        "merge_engine='first-row'",
        [{("+I", 1, 4)}, {("+I", 1, 5)}] if SHOWS_LEVEL_0 else [],
    ),
    "first_row_lookup": ("sales", f"{LOOKUP}, merge_engine='first-row'", [{("+I", 1, 4)}]),
    # lookup_delta reads the data files, not its changelog. none_changelog reads a changelog that does not exist.
    "lookup_delta": (
        "stock",
        f"{LOOKUP}, tblproperties={{'incremental-between-scan-mode': 'delta'}}",
        LATEST,
    ),
    "none_changelog": ("stock", "tblproperties={'incremental-between-scan-mode': 'changelog'}", []),
    "write_only": ("stock", f"{LOOKUP}, tblproperties={{'write-only': true}}", []),
    "full_by_commits": (
        "stock",
        f"{FULL}, tblproperties={{'full-compaction.delta-commits': 1}}",
        COMPLETE if COMPACTS_ITSELF else [],
    ),
}


def model(messages: str, config: str) -> str:
    return (
        f"{{{{ config(materialized='incremental', primary_key='id', bucket=1, {config}) }}}}\n"
        f"select * from values {{{{ {MESSAGES[messages]!r}[var('run', 1) - 1] }}}} as t({COLUMNS[messages]})"
    )


# A consumer's running sum: -U subtracts the old value.
RUNNING_SUM = """
{{ config(materialized='table', primary_key='one', bucket=1, merge_engine='aggregation', rowkind_field='op',
          fields={'n': {'aggregate_function': 'sum'}}) }}
select 1 as one, n, op from values {{ var('changes', "(0, '+I')") }} as t(n, op)
"""


class TestChangelog:
    @pytest.fixture(scope="class")
    def models(self):
        tables = {f"{name}.sql": model(messages, config) for name, (messages, config, _) in TABLES.items()}
        return {**tables, "running_sum.sql": RUNNING_SUM}

    @pytest.fixture(scope="class")
    def changes(self, project, rows):
        """Function: the changes of a table by commit, without commits that show no changes."""
        for run in (1, 2):
            run_dbt(["run", "--vars", f"run: {run}", "--exclude", "running_sum"])

        def read(name: str) -> list[set[tuple[Any, ...]]]:
            columns = COLUMNS[TABLES[name][0]].replace(", op", "")
            last = rows(f"select max(snapshot_id) from {{schema}}.`{name}$snapshots`")[0][0]
            log = f"{project.test_schema}.`{name}$audit_log`"
            found = [
                rows(f"select rowkind, {columns} from paimon_incremental_query('{log}', {n}, {n + 1})")
                for n in range(last)
            ]
            assert all(len(set(commit)) == len(commit) for commit in found)
            return [set(commit) for commit in found if commit]

        return read

    @pytest.mark.parametrize("name", TABLES)
    def test_incremental_query(self, changes, name):
        assert changes(name) == TABLES[name][2]

    @pytest.mark.parametrize(
        ("name", "commits", "changelog"),
        [
            # The commits of the two runs, and the number of changes in each commit's changelog.
            ("none", "AA", [0, 0]),
            ("input", "AA", [2, 4]),
            ("lookup", "ACAC", [0, 2, 0, 4]),
            # The model's post-hook compacts once per run; without it there is no compaction and no changelog.
            ("full_compaction", "ACAC", [0, 2, 0, 4]),
            ("write_only", "AA", [0, 0]),
        ],
    )
    def test_what_a_run_commits(self, changes, rows, name, commits, changelog):
        """What each changelog producer commits; with `lookup`, each run ends with its changes in the changelog."""
        found = rows(
            "select left(commit_kind, 1), coalesce(changelog_record_count, 0) "
            f"from {{schema}}.`{name}$snapshots` order by snapshot_id limit {len(commits)}"
        )
        assert ("".join(kind for kind, _ in found), [count for _, count in found]) == (commits, changelog)

    @pytest.mark.parametrize("name", ["none", "input", "lookup", "full_compaction"])
    def test_audit_log_shows_what_the_table_holds(self, changes, rows, name):
        """Without bounds, the audit log shows the table's rows, each with the row kind it was written with."""
        kind = "+U" if name == "input" else "+I"
        found = rows(f"select rowkind, id, n from {{schema}}.`{name}$audit_log` order by id")
        assert found == [(kind, 1, 5), (kind, 2, 5)]

    def test_audit_log_knows_deletes(self, changes, rows):
        for name in ("none", "lookup"):
            rows(f"delete from {{schema}}.{name} where id = 2")
            assert changes(name)[-1] == {("-D", 2, 5)}
            assert rows(f"select id, n from {{schema}}.{name}") == [(1, 5)]

    @pytest.mark.parametrize(("name", "total"), [("none", 20), ("input", 10), ("lookup", 10), ("full_compaction", 10)])
    def test_running_sum(self, changes, rows, name, total):
        """The latest value 5 does not tell whether the old value was 4 or 6; a -U row does."""
        seen = [change for commit in changes(name)[:2] for change in commit]
        values = ", ".join(f"({n}, '{kind}')" for kind, _, n in seen)
        run_dbt(["run", "--select", "running_sum", "--vars", str({"changes": values})])
        assert rows("select n from {schema}.running_sum") == [(total,)]

    def test_several_commits_at_once(self, changes, project, rows):
        """Paimon 0.9 merges the changelog of several commits as if it were the table's rows; later versions do not."""
        last = rows("select max(snapshot_id) from {schema}.`total$snapshots`")[0][0]
        log = f"{project.test_schema}.`total$audit_log`"
        found = set(rows(f"select rowkind, id, n from paimon_incremental_query('{log}', 0, {last})"))
        right = {("+I", 1, 4), ("-U", 1, 4), ("+U", 1, 9)}
        assert (found == right) == (CONNECTOR.major > 0)
        assert set().union(*changes("total")) == right

    def test_write_only_until_compaction(self, changes):
        run_dbt(["run-operation", "compact", "--args", "{relation: write_only}"])
        assert changes("write_only") == [{("+I", 1, 5), ("+I", 2, 5)}]

    def test_full_compaction_by_a_call(self, changes):
        """Before 1.4, only Flink obeys full-compaction.delta-commits; on Spark, a procedure call must compact."""
        run_dbt(["run-operation", "compact", "--args", "{relation: full_by_commits}"])
        expected = COMPLETE if COMPACTS_ITSELF else [{("+I", 1, 5), ("+I", 2, 5)}]
        assert changes("full_by_commits") == expected
