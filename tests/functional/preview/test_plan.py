"""`dbt-paimon plan` shows what the next run will do, and writes nothing; a run drops history only on request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.tests.util import run_dbt, update_config_file, write_file

from dbt_paimon.cli import main

DAYS = 4
ROWS = 40
LOG = """
{{ config(materialized='incremental', primary_key=['id', 'day'], partition_by='day', bucket=1) }}
select id, concat('2024-01-0', 1 + id % %(days)s) as day, cast(id as string) as text from range(%(rows)s)
"""
KEPT = """
{{{{ config(materialized='table', primary_key='id' {more}) }}}}
select id, text {columns} from {{{{ ref('log') }}}} where day = '2024-01-02'
"""
MODELS = {
    "log.sql": LOG.replace("%(days)s", str(DAYS)).replace("%(rows)s", str(ROWS)),
    "kept.sql": KEPT.format(more="", columns=""),
    "a_view.sql": "select count(*) as n from {{ ref('kept') }}",
    "inlined.sql": "{{ config(materialized='ephemeral') }} select 1 as one",
}
SNAPSHOT = {
    "snapshots": [
        {
            "name": "history",
            "relation": "ref('kept')",
            "config": {"unique_key": "id", "strategy": "check", "check_cols": ["text"]},
        }
    ]
}


class Plans:
    """Fixtures that run `dbt-paimon plan` and list the warehouse's files."""

    @pytest.fixture(scope="class")
    def plan(self, project):
        """Function: run `dbt-paimon plan`; returns its output by node, and the exit code."""

        def made(*arguments: str) -> tuple[dict[str, dict[str, Any]], int]:
            places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
            done = CliRunner().invoke(main, ["plan", "--output", "json", *places, *arguments])
            lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            return {line["unique_id"].rpartition(".")[2]: line for line in lines}, done.exit_code

        return made

    @pytest.fixture(scope="class")
    def files(self, warehouse):
        def there() -> set[tuple[str, int]]:
            return {(str(path), path.stat().st_mtime_ns) for path in Path(warehouse).rglob("*") if path.is_file()}

        return there


class TestPlan(Plans):
    @pytest.fixture(scope="class")
    def models(self):
        return {**MODELS, "history.yml": SNAPSHOT}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"planted.csv": "id\n1\n"}

    @pytest.fixture(scope="class")
    def first(self, plan, files):
        before = files()
        made = plan()
        return made, before, files()

    @pytest.fixture(scope="class")
    def later(self, first, plan, files):
        run_dbt(["build"])
        run_dbt(["build"])
        before = files()
        made = plan()
        return made, before, files()

    @pytest.fixture(scope="class")
    def of_files(self, rows):
        """Function: the number of rows, files and bytes of a table's data files."""

        def of(table: str, where: str = "true") -> tuple[int, int, int]:
            (found,) = rows(
                "select sum(record_count), count(*), sum(file_size_in_bytes) "
                f"from {{schema}}.`{table}$files` where {where}"
            )
            return found

        return of

    def test_before_anything_is_built(self, first):
        (found, code), *_ = first
        does = {name: node["does"] for name, node in found.items()}
        assert does == {
            "log": "create",
            "kept": "create",
            "a_view": "create view",
            "history": "create",
            "planted": "create",
        }
        assert code == 0

    def test_afterwards(self, later):
        (found, code), *_ = later
        assert {name: (node["does"], node["kind"]) for name, node in found.items()} == {
            "log": ("increment", "incremental, upsert"),
            "kept": ("rebuild in place", "table"),
            "a_view": ("replace view", "view"),
            "history": ("increment", "snapshot"),
            "planted": ("rebuild in place", "seed"),
        }
        assert code == 0

    def test_nothing_was_written(self, first, later):
        for _, before, after in (first, later):
            assert before == after

    def test_what_is_read_is_one_partition(self, later, of_files):
        (found, _), *_ = later
        (scan,) = found["kept"]["scans"]
        rows, files, size = of_files("log", "partition like '%2024-01-02%'")
        assert (scan["rows"], scan["files"], scan["bytes"], scan["partitions"]) == (rows, files, size, 1)
        assert rows < of_files("log")[0]

    def test_options_and_columns_that_a_run_alters(self, later, project, plan, rows):
        more = ", snapshot_retention={'num_retained_max': 50}"
        write_file(KEPT.format(more=more, columns=", 1 as added"), project.project_root, "models", "kept.sql")
        found, code = plan("--select", "kept")
        assert (found["kept"]["does"], code) == ("rebuild in place", 0)
        column, options = found["kept"]["alters"]
        assert "snapshot.num-retained.max" in options
        assert column == "columns: adds added int"
        run_dbt(["run", "--select", "kept"])
        assert "alters" not in plan("--select", "kept")[0]["kept"]
        assert rows("select value from {schema}.`kept$options` where key = 'snapshot.num-retained.max'") == [("50",)]

    def test_an_unknown_name(self, project):
        places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
        done = CliRunner().invoke(main, ["plan", *places, "--select", "nope"])
        assert (done.exit_code, done.stdout) == (1, "")
        assert "No node is selected by nope." in done.stderr
        assert CliRunner().invoke(main, ["plan", *places, "--select", "tag:nope"]).exit_code == 0

    def test_a_query_that_reads_too_much(self, later, project, plan, of_files, rows):
        """With a limit of one partition's bytes, reading one partition is allowed, reading all is not."""
        _, _, part = of_files("log", "partition like '%2024-01-02%'")
        every = f"{{{{ config(materialized='table', max_bytes_read={part}) }}}} select * from {{{{ ref('log') }}}}"
        write_file(every, project.project_root, "models", "limited.sql")
        found, code = plan("--select", "limited")
        assert (found["limited"]["does"], code) == ("fail", 1)
        run_dbt(["run", "--select", "limited"], expect_pass=False)
        assert rows("show tables in {schema} like 'limited'") == []
        write_file(f"{every} where day = '2024-01-02'", project.project_root, "models", "limited.sql")
        assert plan("--select", "limited")[1] == 0
        run_dbt(["run", "--select", "limited"])
        assert rows("select count(*) from {schema}.limited") == [(ROWS // DAYS,)]

    def test_a_python_model_that_reads_too_much(self, later, project, of_files, rows):
        """The returned data frame is refused before Spark runs it."""
        _, _, part = of_files("log", "partition like '%2024-01-02%'")
        code = f"def model(dbt, session):\n    dbt.config(max_bytes_read={part})\n    return dbt.ref('log')"
        write_file(code, project.project_root, "models", "in_python.py")
        run_dbt(["run", "--select", "in_python"], expect_pass=False)
        assert rows("show tables in {schema} like 'in_python'") == []
        write_file(f"{code}.where(\"day = '2024-01-02'\")", project.project_root, "models", "in_python.py")
        run_dbt(["run", "--select", "in_python"])
        assert rows("select count(*) from {schema}.in_python") == [(ROWS // DAYS,)]

    def test_what_reads_no_data_files(self, later, project, plan, rows):
        """Queries of system tables read no data files. Nor do counts, except with connector 0.9.0."""
        sql = "{{ config(materialized='table', max_bytes_read=1) }} select count(*) as n from "
        write_file(f"{sql} {{{{ ref('planted') }}}}", project.project_root, "models", "counted.sql")
        history = "{{ ref('log').system_table('snapshots') }}"
        write_file(f"{sql} {history}", project.project_root, "models", "looked_up.sql")
        found, _ = plan("--select", "counted", "looked_up")
        assert found["looked_up"]["does"] == "create"
        allowed = found["counted"]["does"] == "create"
        run_dbt(["run", "--select", "counted", "looked_up"], expect_pass=allowed)
        built = {name for (_, name, *_) in rows("show tables in {schema}")} & {"counted", "looked_up"}
        assert built == ({"counted", "looked_up"} if allowed else {"looked_up"})


class TestLoss(Plans):
    """A model's key changes; its table has a tag and two table snapshots."""

    @pytest.fixture(scope="class")
    def models(self):
        return {name: MODELS[name] for name in ("log.sql", "kept.sql")}

    @pytest.fixture(scope="class")
    def history(self, rows):
        def of() -> tuple[int, list[str]]:
            ((snapshots,),) = rows("select count(*) from {schema}.`kept$snapshots`")
            return snapshots, [name for (name,) in rows("select tag_name from {schema}.`kept$tags`")]

        return of

    @pytest.fixture(scope="class")
    def changed(self, project, rows):
        """Run twice, create a tag, and then change the key."""
        run_dbt(["run"])
        run_dbt(["run"])
        rows("call paimon.sys.create_tag(table => '{schema}.kept', tag => 'audited', snapshot => 1)")
        self.write(project)

    @staticmethod
    def write(project: Any, more: str = "", key: str = "text") -> None:
        sql = KEPT.format(more=more, columns="").replace("'id'", f"'{key}'")
        write_file(sql, project.project_root, "models", "kept.sql")

    def test_a_run_refuses_it(self, changed, plan, history, rows):
        before = history(), rows("select * from {schema}.kept order by id")
        found, code = plan("--select", "kept")
        snapshots, tags = before[0]
        assert found["kept"]["does"] == "rebuild as a new table"
        assert found["kept"]["asks"] is True
        assert (found["kept"]["lost"]["snapshots"], found["kept"]["lost"]["tags"]) == (snapshots, tags)
        assert tags == ["audited"]
        assert code == 1
        run_dbt(["run", "--select", "kept"], expect_pass=False)
        assert (history(), rows("select * from {schema}.kept order by id")) == before

    def test_the_project_may_switch_that_off(self, changed, plan, history, project):
        """With on_rebuild=drop_history, a run drops the history. With --fail-on-loss, the exit code warns CI."""
        assert plan("--select", "kept", "--full-refresh", "--fail-on-loss")[1] == 3
        self.write(project, more=", on_rebuild='drop_history'")
        found, code = plan("--select", "kept")
        assert (found["kept"].get("asks"), code) == (None, 0)
        run_dbt(["run", "--select", "kept"])
        assert history() == (1, [])

    def test_a_branch_is_history(self, changed, plan, project, rows):
        self.write(project, more=", on_rebuild='drop_history'")
        run_dbt(["run", "--select", "kept"])
        rows("call paimon.sys.create_branch(table => '{schema}.kept', branch => 'work')")
        self.write(project, key="id")
        found, code = plan("--select", "kept")
        assert (found["kept"]["lost"]["branches"], found["kept"]["asks"], code) == (["work"], True, 1)
        run_dbt(["run", "--select", "kept"], expect_pass=False)
        assert rows("select branch_name from {schema}.`kept$branches`") == [("work",)]

    def test_a_project_that_only_wants_a_warning(self, changed, plan, project, rows):
        update_config_file({"flags": {"require_consent_to_lose_history": False}}, "dbt_project.yml")
        found, code = plan("--select", "kept")
        assert (found["kept"]["lost"]["branches"], found["kept"].get("asks"), code) == (["work"], None, 0)
        run_dbt(["run", "--select", "kept"])
        assert rows("select branch_name from {schema}.`kept$branches`") == []
