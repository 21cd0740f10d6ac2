"""rollback_run rolls back all tables that a run wrote, or none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture

from dbt.adapters.paimon.time_travel.api import History
from dbt.adapters.paimon.writing.table_writer import TableWriter

RUN = "cast({{ var('run', 1) }} as int)"
MODELS = {
    "added.sql": f"{{{{ config(materialized='incremental') }}}} select {RUN} as n",
    "upserted.sql": f"{{{{ config(materialized='incremental', primary_key='id', bucket=1) }}}} select 1 as id, {RUN} as n",
    "rebuilt.sql": f"{{{{ config(materialized='table') }}}} select {RUN} as n",
    "seen.sql": "{{ config(materialized='view') }} select * from {{ ref('rebuilt') }}",
    "skipped.sql": "{{ config(materialized='table', skip_unchanged=true) }} select 1 as n",
    "fresh.sql": "{{ config(materialized='table', enabled=var('run', 1) > 1) }} select 1 as n",
}
TABLES = ("added", "upserted", "rebuilt")


def undo(**arguments: Any) -> None:
    run_dbt(["run-operation", "rollback_run", "--args", str(arguments)])


def refusal(**arguments: Any) -> str:
    """Run the operation, which must fail; returns its output as one line."""
    _, output = run_dbt_and_capture(["run-operation", "rollback_run", "--args", str(arguments)], expect_pass=False)
    return " ".join(output.split())


class TestRollbackRun:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"loaded.csv": "n\n1\n"}

    def test_seeds(self, project: Any, rows: Any) -> None:
        run_dbt(["seed"])
        Path(project.project_root, "seeds", "loaded.csv").write_text("n\n2\n")
        run_dbt(["seed"])
        assert rows("select n from {schema}.loaded") == [(2,)]
        undo()
        assert rows("select n from {schema}.loaded") == [(1,)]

    def test_all_tables_or_no_table(self, project: Any, rows: Any) -> None:
        def found() -> dict[str, list[int]]:
            return {name: [n for (n,) in rows(f"select n from {{schema}}.{name} order by n")] for name in TABLES}

        run_dbt(["run", "--select", "added upserted rebuilt seen skipped"])
        # A model that the next run skips keeps its two table snapshots.
        run_dbt(["run", "--select", "skipped", "--full-refresh"])
        skipped = "select snapshot_id from {schema}.`skipped$snapshots` order by 1"
        assert rows(skipped) == [(1,), (2,)]
        before = found()
        results = Path(project.project_root, "target", "run_results.json")
        run_dbt(["run", "--vars", "run: 2"])
        after = found()
        assert after == {"added": [1, 2], "upserted": [2], "rebuilt": [2]}

        # The run created a table, so nothing is rolled back.
        assert "fresh has no table snapshot from before the run" in refusal()
        assert "is of the invocation" in refusal(invocation_id="another")
        assert "no node named nothing" in refusal(exclude=["nothing"])
        assert found() == after

        undo(exclude=["fresh"])
        assert (found(), rows(skipped)) == (before, [(1,), (2,)])
        # A second call, as after a kill, has nothing left to do.
        undo(exclude=["fresh"])
        assert found() == before

        # Another writer changes `upserted` after the fourth run.
        run_dbt(["run", "--select", "upserted", "--vars", "run: 3"])
        run_dbt(["run", "--select", "added upserted", "--vars", "run: 4"])
        project.run_sql(f"insert into {project.test_schema}.upserted values (1, 5)")
        shutil.copyfile(results, results.with_name("fourth.json"))
        written = found()
        assert "upserted was written again after the run" in refusal(results="target/fourth.json")
        assert found() == written
        undo(results="target/fourth.json", exclude=["upserted"])
        assert found() == written | {"added": [1]}

    def test_other_runs_wait_from_the_check_on(
        self, project: Any, rows: Any, may_write: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A commit between a check and the rollback would be lost."""
        check, tables, written = History.refuse_stale_readers, ["added", "upserted"], []

        def beside_another_run(*arguments: Any) -> None:
            # Another run writes every table that it can lock.
            for name in tables:
                if may_write(name):
                    written.append(name)
                    values = "(99)" if name == "added" else "(99, 99)"
                    project.adapter.query(f"insert into paimon.{project.test_schema}.{name} values {values}")
            check(*arguments)

        state = "select n from {schema}.added union all select n + 100 from {schema}.upserted order by 1"
        run_dbt(["run", "--select", "added upserted", "--vars", "run: 5"])
        first = rows(state)
        rows("call paimon.sys.create_tag(table => '{schema}.added', tag => 'fifth')")
        run_dbt(["run-operation", "create_branch", "--args", "{relation: added, branch: fifth, tag: fifth}"])
        run_dbt(["run", "--select", "added upserted", "--vars", "run: 6"])
        assert rows(state) != first
        monkeypatch.setattr(History, "refuse_stale_readers", beside_another_run)
        undo()
        assert (rows(state), written) == (first, [])
        tables.remove("upserted")
        rows("insert into {schema}.added values (7)")
        run_dbt(["run-operation", "rollback_to", "--args", "{relation: added, version: fifth}"])
        assert (rows(state), written) == (first, [])
        rows("insert into {schema}.added values (8)")
        run_dbt(["run-operation", "fast_forward", "--args", "{relation: added, branch: fifth, discard: true}"])
        assert (rows(state), written) == (first, [])

    def test_a_write_while_the_run_waited_for_the_table_stays(
        self, project: Any, rows: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hold = TableWriter.hold

        def after_another_run(writer: TableWriter, relation: Any) -> None:
            monkeypatch.undo()
            project.adapter.execute(f"insert into paimon.{project.test_schema}.added values (50)")
            hold(writer, relation)

        run_dbt(["run", "--select", "added"])
        before = rows("select n from {schema}.added order by n")
        monkeypatch.setattr(TableWriter, "hold", after_another_run)
        run_dbt(["run", "--select", "added", "--vars", "run: 60"])
        assert (60,) in rows("select n from {schema}.added")
        undo()
        assert rows("select n from {schema}.added order by n") == sorted([*before, (50,)])

    def test_a_quoted_false_is_no_consent(self, project: Any, rows: Any) -> None:
        rows("insert into {schema}.added values (9)")
        rows("call paimon.sys.create_tag(table => '{schema}.added', tag => 'later')")
        before, tags = rows("select n from {schema}.added order by 1"), "select tag_name from {schema}.`added$tags`"
        for operation, arguments in {
            "rollback_to": {"version": "fifth", "drop_tags": "false"},
            "fast_forward": {"branch": "fifth", "discard": "False"},
        }.items():
            given = str({"relation": "added", **arguments})
            run_dbt(["run-operation", operation, "--args", given], expect_pass=False)
        assert "drop_tags='yes': must be true or false" in refusal(drop_tags="yes")
        assert rows("select n from {schema}.added order by 1") == before
        assert ("later",) in rows(tags)
        run_dbt(["run-operation", "rollback_to", "--args", "{relation: added, version: fifth, drop_tags: 'true'}"])
        assert ("later",) not in rows(tags)
