"""`dbt-paimon diff` says which rows, columns and options of a table differ between two states, and writes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from dbt.tests.util import run_dbt, write_file

from dbt_paimon.cli import main

KEYED = """
{{ config(materialized='incremental', primary_key=['id', 'day'], partition_by='day', bucket=1, on_schema_change='append_new_columns') }}
select id, concat('2024-01-0', 1 + id % 4) as day, 10 * id as amount, cast(id as string) as note, map('a', id) as tags
from range(40)
{% if var('run', 1) == 2 %}
where id in (1, 5)
union all select 101, '2024-01-02', 1010, 'new', map('a', 1)
{% endif %}
"""
LOG = """
{{ config(materialized='incremental', incremental_strategy='append') }}
{% if var('run', 1) == 1 %} select id, 'a' as text from range(3)
{% else %} select 2L as id, 'a' as text union all select 9L, 'b' {% endif %}
"""
MODELS = {
    "keyed.sql": KEYED,
    "log.sql": LOG,
    "a_view.sql": "select id, note from {{ ref('keyed') }}",
    "inlined.sql": "{{ config(materialized='ephemeral') }} select 1 as one",
}


class Diffs:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    @pytest.fixture(scope="class")
    def invoke(self, project: Any) -> Any:
        def made(*arguments: str) -> Any:
            places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
            return CliRunner().invoke(main, ["diff", *places, *arguments])

        return made

    @pytest.fixture(scope="class")
    def diff(self, invoke: Any) -> Any:
        """Function: run a diff of one table; returns the result and the exit code."""

        def made(*arguments: str) -> tuple[dict[str, Any], int]:
            done = invoke("--output", "json", *arguments)
            lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            assert len(lines) == 1, done.output
            return lines[0], done.exit_code

        return made


class TestDiff(Diffs):
    """Keys 1 and 5 (same partition) are updated by hand, 7 is deleted, 101 is added."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        config = "{{ config(materialized='incremental', primary_key=['id', 'day'], partition_by='day', bucket=1) }}"
        return {**MODELS, "regained.sql": f"{config} select id, id % 2 as day, 10 * id as amount from range(4)"}

    @pytest.fixture(scope="class", autouse=True)
    def _built(self, project: Any, rows: Any) -> None:
        run_dbt(["run"])
        rows("call paimon.sys.create_tag(table => '{schema}.keyed', tag => 'first')")
        run_dbt(["run", "--select", "keyed", "log", "--vars", "run: 2"])
        table = f"paimon.{project.test_schema}.keyed"
        project.run_sql(f"update {table} set amount = -1, note = 'other' where id = 1")
        project.run_sql(f"update {table} set amount = -5 where id = 5")
        project.run_sql(f"delete from {table} where id = 7")

    def test_from_a_tag(self, diff: Any) -> None:
        found, code = diff("keyed", "--from", "tag:first", "--fail-on-diff")
        assert (found["key"], found["rows_before"], found["rows_after"]) == (["id", "day"], 20, 20)
        assert (found["added"], found["gone"], found["changed"]) == (1, 1, 2)
        assert found["columns"] == {"amount": 2, "note": 1}
        samples = {(s["kind"], s["key"]["id"]): (s.get("before"), s.get("after")) for s in found["samples"]}
        assert samples.keys() == {("added", "101"), ("changed", "1"), ("changed", "5"), ("gone", "7")}
        assert samples["changed", "1"] == ({"amount": "10", "note": "1"}, {"amount": "-1", "note": "other"})
        assert samples["changed", "5"] == ({"amount": "50"}, {"amount": "-5"})
        assert samples["added", "101"][1]["note"] == "new"
        assert samples["gone", "7"][0]["amount"] == "70"
        assert found["read"].endswith("of 2 of 4 partitions")
        assert code == 3

    def test_a_column_that_was_dropped_and_added_again(self, diff: Any, rows: Any) -> None:
        rows("alter table {schema}.regained drop column amount")
        rows("alter table {schema}.regained add column amount bigint")
        # Only the partition 0 has a new file.
        rows("insert into {schema}.regained values (0, 0, 0)")
        found, _ = diff("regained", "--from", "snapshot:1")
        assert (found["changed"], found["columns"]) == (3, {"amount": 3})

    def test_the_same_state(self, diff: Any) -> None:
        found, code = diff("keyed", "--from", "now", "--fail-on-diff")
        assert not {"added", "gone", "changed", "schema", "options", "samples", "problem"} & {
            name for name, value in found.items() if value
        }
        assert code == 0

    def test_previous_is_before_the_newest_commit(self, diff: Any) -> None:
        found, _ = diff("keyed")
        assert (found["added"], found["gone"], found["changed"]) == (0, 1, 0)

    def test_another_state_is_compared_with_the_current_one(self, diff: Any) -> None:
        found, _ = diff("keyed", "--to", "tag:first")
        assert (found["added"], found["gone"], found["changed"]) == (1, 1, 2)

    def test_whole_rows_without_a_key(self, diff: Any) -> None:
        """A duplicate of an existing row counts as an added row."""
        found, _ = diff("log")
        assert (found["added"], found["gone"]) == (2, 0)
        assert sorted(s["key"]["id"] for s in found["samples"]) == ["2", "9"]

    def test_a_key_that_repeats_compares_whole_rows(self, diff: Any) -> None:
        found, _ = diff("log", "--key", "id")
        assert "key" not in found
        assert found["added"] == 2

    def test_another_table_with_other_columns(self, diff: Any, project: Any, rows: Any) -> None:
        rows(
            "create table {schema}.other (id int, day string, amount string, more int) partitioned by (day) "
            "tblproperties ('primary-key' = 'id,day', 'bucket' = '2')"
        )
        rows("insert into {schema}.other select cast(id as int), day, cast(amount as string), 1 from {schema}.keyed")
        found, _ = diff("keyed", "--from", f"table:{project.test_schema}.other")
        assert (found["added"], found["gone"], found["changed"]) == (0, 0, 0)
        assert set(found["schema"]) == {
            "adds note string",
            "adds tags map<string,bigint>",
            "drops more int",
            "type of id: int -> bigint",
            "type of amount: string -> bigint",
        }
        assert "bucket: 2 -> 1" in found["options"]

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("keyed", "--from", "tag:none"), "there is no tag 'none'. It has: first."),
            (("keyed", "--key", "nothing"), "not in both tables: nothing"),
            (("a_view",), "is a view, which has no history"),
            (("keyed", "--from", "table:nowhere"), "[catalog.]schema.table is needed"),
        ],
    )
    def test_refused_arguments(self, diff: Any, arguments: tuple[str, ...], says: str) -> None:
        found, code = diff(*arguments)
        assert says in found["problem"]
        assert code == 1

    @pytest.mark.parametrize("side", ["tags:first", "tag", "now:1"])
    def test_a_side_that_is_not_known(self, invoke: Any, side: str) -> None:
        done = invoke("keyed", "--from", side)
        assert done.exit_code == 1
        assert f"--from {side}: not a valid side" in done.output

    def test_markdown_and_text(self, invoke: Any) -> None:
        done = invoke("keyed", "--from", "tag:first", "--output", "markdown")
        assert "### `" in done.stdout
        assert "| `amount` | 2 |" in done.stdout
        assert "! id=5, day=2024-01-02: amount 50 -> -5" in done.stdout
        done = invoke("keyed", "log", "inlined", "--from", "tag:first")
        assert "2 nodes, 1 differ, 1 could not be compared. Nothing was written." in done.stdout

    def test_nothing_is_written(self, invoke: Any, warehouse: Path) -> None:
        def files() -> set[tuple[str, int]]:
            return {(str(p), p.stat().st_mtime_ns) for p in warehouse.rglob("*") if p.is_file()}

        before = files()
        invoke("keyed", "--from", "tag:first")
        assert files() == before


class TestPullRequest(Diffs):
    """A changed project is built in its own schema and compared with production's tables."""

    @pytest.fixture(scope="class", autouse=True)
    def _targets(self, project: Any) -> None:
        path = Path(project.profiles_dir) / "profiles.yml"
        profiles = yaml.safe_load(path.read_text())
        (name,) = (name for name in profiles if name != "config")
        outputs = profiles[name]["outputs"]
        (target,) = outputs.values()
        outputs["request"] = {**target, "schema": f"{project.test_schema}_request"}
        outputs["elsewhere"] = {**target, "warehouse": f"{target['warehouse']}_elsewhere"}
        path.write_text(yaml.safe_dump(profiles))

    def test_what_it_does_to_the_rows(self, project: Any, invoke: Any, tmp_path: Path) -> None:
        run_dbt(["run"])
        state = tmp_path / "production"
        state.mkdir()
        (state / "manifest.json").write_bytes((Path(project.project_root) / "target" / "manifest.json").read_bytes())
        changed = KEYED.replace("10 * id as amount", "10 * id + if(id = 3, 1, 0) as amount")
        write_file(changed, project.project_root, "models", "keyed.sql")
        write_file("select 1 as one", project.project_root, "models", "brand_new.sql")
        modified = ["--target", "request", "--select", "state:modified+", "--state", str(state)]
        run_dbt(["run", *modified, "--defer"])

        done = invoke(*modified, "--output", "json")
        found = {
            line["unique_id"].rpartition(".")[2]: line
            for line in map(json.loads, filter(lambda text: text.startswith("{"), done.stdout.splitlines()))
        }
        assert found.keys() == {"keyed", "a_view", "brand_new"}
        assert (found["keyed"]["added"], found["keyed"]["gone"], found["keyed"]["changed"]) == (0, 0, 1)
        assert found["keyed"]["columns"] == {"amount": 1}
        assert (found["a_view"]["added"], found["a_view"]["gone"]) == (0, 0)
        assert (found["brand_new"]["schema"], found["brand_new"]["added"]) == (["the table is new"], 1)
        assert done.exit_code == 0

        done = invoke("keyed", "--target", "request", "--from", "target:default", "--output", "json")
        (line,) = (json.loads(text) for text in done.stdout.splitlines() if text.startswith("{"))
        assert (line["changed"], line["samples"][0]["before"]) == (1, {"amount": "30"})

        done = invoke("keyed", "--from", "target:elsewhere")
        assert done.exit_code == 1
        assert "its warehouse or metastore differs" in done.output
