"""Materialized views in a project that changes: materializations, queries, sources, configs, dbt commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.tests.util import run_dbt, write_file

from dbt_paimon.cli import main

VIEW = "{{{{ config(materialized='materialized_view'{config}) }}}}\n{sql}"
STAR = "select f.id, f.amount, c.name from {{ source('raw', 'facts') }} f left join {{ source('raw', 'names') }} c on c.id = f.name_id"
SOURCES = """
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables: [{name: facts}, {name: names}]
"""


def view(sql: str = STAR, **config: Any) -> str:
    return VIEW.format(sql=sql, config="".join(f", {key}={value!r}" for key, value in config.items()))


def refresh_of(results: Any, name: str = "star") -> str:
    (found,) = [each.adapter_response.get("refresh") for each in results if each.node.name == name]
    return found or ""


class Life:
    """Each test begins with new sources and a view that was refreshed once."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"star.sql": view(), "sources.yml": SOURCES}

    @pytest.fixture(scope="class")
    def table(self, project: Any) -> str:
        return f"paimon.{project.test_schema}"

    @pytest.fixture(autouse=True)
    def begun(self, project: Any, rows: Any, table: str) -> Iterator[None]:
        rows(f"drop database if exists {table} cascade")
        rows(f"create database {table}")
        key = "tblproperties ('primary-key' = 'id', 'bucket' = '1')"
        rows(f"create table {table}.facts (id int, name_id int, amount int) {key}")
        rows(f"create table {table}.names (id int, name string) {key}")
        rows(f"insert into {table}.facts select id, id % 3, id * 10 from range(10)")
        rows(f"insert into {table}.names values (0, 'zero'), (1, 'one')")
        write_file(view(), project.project_root, "models", "star.sql")
        assert refresh_of(run_dbt(["run"])) == "full: first run"
        yield
        write_file(view(), project.project_root, "models", "star.sql")

    def expected(self, rows: Any, table: str) -> list[tuple[Any, ...]]:
        return sorted(
            rows(f"select f.id, f.amount, c.name from {table}.facts f left join {table}.names c on c.id = f.name_id")
        )

    def found(self, rows: Any, table: str, name: str = "star") -> list[tuple[Any, ...]]:
        return sorted(rows(f"select id, amount, name from {table}.{name}"))


OTHERS = ("table", "incremental", "view")


class TestMaterializations(Life):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"star.sql": view(), "sources.yml": SOURCES} | {f"was_{other}.sql": view() for other in OTHERS}

    def test_a_view_becomes_another_materialization_and_a_view_again(self, project: Any, rows: Any, table: str) -> None:
        for other in OTHERS:
            key = "" if other == "view" else ", primary_key='id'"
            model = f"{{{{ config(materialized='{other}'{key}) }}}}\n{STAR}"
            write_file(model, project.project_root, "models", f"was_{other}.sql")
        run_dbt(["run"])
        for other in ("table", "incremental"):
            options = dict(rows(f"select key, value from {table}.`was_{other}$options`"))
            assert "dbt.materialized-view" not in options
        rows(f"insert into {table}.facts values (1, 2, 11), (20, 0, 1)")
        for other in OTHERS:
            write_file(view(), project.project_root, "models", f"was_{other}.sql")
        results = [
            *run_dbt(["run", "--select", "was_incremental", "--full-refresh"]),
            *run_dbt(["run", "--exclude", "was_incremental"]),
        ]
        for other in OTHERS:
            assert refresh_of(results, f"was_{other}").startswith("full"), other
            assert self.found(rows, table, f"was_{other}") == self.expected(rows, table), other
        rows(f"insert into {table}.names values (2, 'two')")
        results = run_dbt(["run"])
        for other in OTHERS:
            assert refresh_of(results, f"was_{other}").startswith("incremental, "), other
            assert self.found(rows, table, f"was_{other}") == self.expected(rows, table), other


class TestQueries(Life):
    def test_another_query_causes_a_full_refresh(self, project: Any, rows: Any, table: str) -> None:
        write_file(
            view(STAR.replace("f.amount", "f.amount + 1 as amount")),
            project.project_root,
            "models",
            "star.sql",
        )
        assert refresh_of(run_dbt(["run"])).startswith("full: its query")
        assert self.found(rows, table) == [(i, a + 1, n) for i, a, n in self.expected(rows, table)]
        write_file(view(), project.project_root, "models", "star.sql")
        assert refresh_of(run_dbt(["run"])).startswith("full: its query")
        assert self.found(rows, table) == self.expected(rows, table)


class TestWithoutTables(Life):
    def test_another_query_without_tables(self, project: Any, rows: Any, table: str) -> None:
        for numbers in ((1, 2), (2, 3, 4)):
            query = f"select explode(array{numbers}) as number"
            write_file(view(query), project.project_root, "models", "numbers.sql")
            assert refresh_of(run_dbt(["run", "--select", "numbers"]), "numbers").startswith("full: ")
            assert sorted(rows(f"select number from {table}.numbers")) == [(number,) for number in numbers]


# Table -> the ALTERs of its columns.
ALTERED = {
    "added": ("add column more string",),
    "renamed": ("rename column amount to sum",),
    "dropped": ("drop column amount",),
    "added_again": ("drop column name_id", "add column name_id int"),
    "swapped": ("rename column amount to x", "rename column name_id to amount", "rename column x to name_id"),
}


class TestAlteredSources(Life):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        tables = "".join(f", {{name: {name}}}" for name in ALTERED)
        return {"star.sql": view(), "sources.yml": SOURCES.replace("{name: names}", "{name: names}" + tables)}

    def test_a_source_that_is_altered_is_read_as_a_whole(self, project: Any, rows: Any, table: str) -> None:
        # No commit follows the ALTER, so the newest table snapshot still has the old columns.
        def write_all(name: str, **config: Any) -> None:
            model = view(f"select * from {{{{ source('raw', '{name}') }}}}", **config)
            write_file(model, project.project_root, "models", f"all_{name}.sql")

        for name in ALTERED:
            rows(
                f"create table {table}.{name} (id int, name_id int, amount int) "
                "tblproperties ('primary-key' = 'id', 'bucket' = '1')"
            )
            rows(f"insert into {table}.{name} select * from {table}.facts")
            write_all(name)
            totals = f"select name_id, count(*) as n from {{{{ source('raw', '{name}') }}}} as f group by all"
            write_file(view(totals), project.project_root, "models", f"totals_{name}.sql")
        run_dbt(["run"])
        for name, alters in ALTERED.items():
            for alter in alters:
                rows(f"alter table {table}.{name} {alter}")
            write_all(name, on_rebuild="drop_history")
        for gone in (None, 3, 4):
            if gone:
                for name in ALTERED:
                    rows(f"delete from {table}.{name} where id = {gone}")
            results = run_dbt(["run"])
            for name in ALTERED:
                assert sorted(rows(f"select id, name_id from {table}.all_{name}")) == sorted(
                    rows(f"select id, name_id from {table}.{name}")
                ), name
                assert sorted(rows(f"select name_id, n from {table}.totals_{name}")) == sorted(
                    rows(f"select name_id, count(*) from {table}.{name} group by name_id")
                ), name
        for name in ALTERED:
            assert refresh_of(results, f"totals_{name}").startswith("incremental, 1 of"), name


class TestWrites(Life):
    def test_a_foreign_write_is_undone_by_a_full_refresh(self, project: Any, rows: Any, table: str) -> None:
        rows(f"delete from {table}.star where id = 3")
        assert refresh_of(run_dbt(["run"])).startswith("full: something other than its refresh wrote its table")
        assert self.found(rows, table) == self.expected(rows, table)

    def test_a_compaction_of_the_view_or_of_a_source_changes_nothing(self, project: Any, rows: Any, table: str) -> None:
        rows(f"call sys.compact(table => '{table}.star')")
        rows(f"call sys.compact(table => '{table}.facts')")
        run_dbt(["run"])
        assert refresh_of(run_dbt(["run"])) == "none, no source has changed"

    def test_a_rolled_back_view_continues_from_its_old_rows(self, project: Any, rows: Any, table: str) -> None:
        rows(f"insert into {table}.facts values (3, 1, 33)")
        run_dbt(["run"])
        rows(f"insert into {table}.facts values (4, 1, 44)")
        run_dbt(["run"])
        rows(f"call sys.rollback(table => '{table}.star', version => '1')")
        assert refresh_of(run_dbt(["run"])) == "incremental, 2 of about 12 keys"
        assert self.found(rows, table) == self.expected(rows, table)

    def test_a_source_that_is_rolled_back_or_recreated_is_read_as_a_whole(
        self, project: Any, rows: Any, table: str
    ) -> None:
        rows(f"insert into {table}.facts values (3, 1, 33)")
        run_dbt(["run"])
        rows(f"call sys.rollback(table => '{table}.facts', version => '1')")
        assert "rolled back or recreated" in refresh_of(run_dbt(["run"]))
        assert self.found(rows, table) == self.expected(rows, table)
        rows(f"drop table {table}.names")
        rows(f"create table {table}.names (id int, name string) tblproperties ('primary-key' = 'id', 'bucket' = '1')")
        rows(f"insert into {table}.names values (2, 'new')")
        assert "rolled back or recreated" in refresh_of(run_dbt(["run"]))
        assert self.found(rows, table) == self.expected(rows, table)

    def test_expired_positions_cause_a_full_refresh(self, project: Any, rows: Any, table: str) -> None:
        for amount in (1, 2, 3):
            rows(f"insert into {table}.facts values (3, 1, {amount})")
        rows(f"call sys.expire_snapshots(table => '{table}.facts', retain_max => 1, retain_min => 1)")
        assert "has expired" in refresh_of(run_dbt(["run"]))
        assert self.found(rows, table) == self.expected(rows, table)


class TestPartitions(Life):
    def test_a_change_without_a_match_in_a_partitioned_table(self, project: Any, rows: Any, table: str) -> None:
        key = "partitioned by (part) tblproperties ('primary-key' = 'part,id', 'bucket' = '1')"
        rows(f"create table {table}.parts (part string, id int, v int) {key}")
        rows(f"insert into {table}.parts select cast(id % 2 as string), id, id from range(4)")
        read = f"(select * from {table}.names where id < 5) as n inner join {table}.parts as p"
        sql = f"select p.part, count(*) as n from {read} on p.part = n.name and p.id = n.id group by p.part"
        write_file(view(sql), project.project_root, "models", "star.sql")
        rows(f"insert into {table}.names values (0, '0'), (1, '1')")
        run_dbt(["run"])
        for statement in (
            f"insert into {table}.parts values ('x', 90, 1)",
            f"insert into {table}.names values (4, '4')",
            f"insert into {table}.names values (3, '1')",
        ):
            rows(statement)
            results = run_dbt(["run"])
            assert sorted(rows(f"select part, n from {table}.star")) == sorted(rows(sql))
        assert refresh_of(results) == "incremental, 1 of about 2 groups"


# name -> (query, config, part of its error)
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "limited": (
        STAR + " limit 5",
        {"refresh_mode": "incremental"},
        "cannot be refreshed incrementally: a LIMIT",
    ),
    "with_a_header": (
        STAR,
        {"refresh_mode": "incremental", "sql_header": "set spark.sql.shuffle.partitions = 2"},
        "cannot be refreshed incrementally: it has a sql_header",
    ),
    "misspelled": (STAR, {"refresh_mode": "incrementel"}, "Did you mean 'incremental'"),
    "merged": (STAR, {"merge_engine": "aggregation"}, "but merge-engine would"),
    "merged_by_a_property": (STAR, {"tblproperties": {"merge-engine": "partial-update"}}, "but merge-engine would"),
    "ordered": (STAR, {"sequence_field": "amount"}, "but sequence.field would"),
    "hidden": (
        STAR,
        {"tblproperties": {"deletion-vectors.enabled": "true", "write-only": "true"}},
        "cannot read rows that are not compacted yet",
    ),
    # Keys that may not be unique in the query's result.
    "another_key": (STAR, {"primary_key": "amount"}, "primary_key"),
    "key_of_some": (STAR + " limit 9", {"primary_key": "id"}, "primary_key"),
    "key_of_nothing": ("select 1 as amount, 2 as id", {"primary_key": "id"}, "primary_key"),
}


class TestRefused(Life):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"star.sql": view(), "sources.yml": SOURCES} | {f"{name}.sql": view() for name in REFUSED}

    def test_configs(self, project: Any, rows: Any, table: str) -> None:
        for name, (sql, config, _) in REFUSED.items():
            write_file(view(sql, **config), project.project_root, "models", f"{name}.sql")
        failed = {each.node.name: each.message for each in run_dbt(["run"], expect_pass=False)}
        for name, (_, _, says) in REFUSED.items():
            assert says in failed[name]
            assert self.found(rows, table, name) == self.expected(rows, table), name


class TestConfigs(Life):
    def test_refresh_mode(self, project: Any, rows: Any, table: str) -> None:
        write_file(view(refresh_mode="full"), project.project_root, "models", "star.sql")
        assert refresh_of(run_dbt(["run"])) == "full: refresh_mode is full"
        assert self.found(rows, table) == self.expected(rows, table)

    def test_an_interrupted_change_of_buckets_is_completed(self, project: Any, rows: Any, table: str) -> None:
        write_file(view(bucket=2), project.project_root, "models", "star.sql")
        run_dbt(["run"])
        write_file(view(bucket=4), project.project_root, "models", "star.sql")
        # What a run does before it writes the rows.
        rows(f"alter table {table}.star set tblproperties ('dbt.buckets' = 'rescaling')")
        rows(f"alter table {table}.star set tblproperties ('bucket' = '4')")
        assert refresh_of(run_dbt(["run"])) == "full: its table is rebuilt (an interrupted rescale)"
        assert self.found(rows, table) == self.expected(rows, table)
        assert len(rows(f"select distinct bucket from {table}.`star$files`")) == 4
        rows(f"insert into {table}.facts select id, id % 3, id from range(20)")
        assert refresh_of(run_dbt(["run"])).startswith("incremental")
        assert self.found(rows, table) == self.expected(rows, table)

    def test_a_key_longer_than_the_querys_causes_full_refreshes(self, project: Any, rows: Any, table: str) -> None:
        config = {"primary_key": ["id", "amount"], "on_rebuild": "drop_history"}
        write_file(view(**config), project.project_root, "models", "star.sql")
        assert refresh_of(run_dbt(["run"])).startswith("full: its table is rebuilt (primary-key: id -> id,amount")
        rows(f"insert into {table}.facts values (1, 0, 301)")
        assert refresh_of(run_dbt(["run"])) == "full: primary_key is (id, amount), but the key of the query is (id)"
        assert self.found(rows, table) == self.expected(rows, table)

    def test_a_group_null_in_a_key_fails(self, project: Any, rows: Any, table: str) -> None:
        query = "select name_id, count(*) as n from {{ source('raw', 'facts') }} as f group by name_id"
        write_file(view(query, primary_key="name_id"), project.project_root, "models", "star.sql")
        run_dbt(["run", "--full-refresh"])
        counted = sorted(rows(f"select name_id, n from {table}.star"))
        rows(f"insert into {table}.facts values (20, null, 1), (21, 1, 1)")
        (result,) = run_dbt(["run"], expect_pass=False)
        assert "name_id" in result.message
        assert sorted(rows(f"select name_id, n from {table}.star")) == counted

    def test_a_kept_table_merges_no_rows_of_the_query(self, project: Any, rows: Any, table: str) -> None:
        rows(f"create table {table}.parts (id int, part int) tblproperties ('primary-key' = 'id,part', 'bucket' = '1')")
        rows(f"insert into {table}.parts select id, part from range(3) as t(id), range(2) as p(part)")
        sql = f"select id, part as amount, 'n' as name from {table}.parts"
        write_file(view(sql, on_configuration_change="continue"), project.project_root, "models", "star.sql")
        results = run_dbt(["run"], expect_pass=None)
        assert self.found(rows, table) == self.expected(rows, table)
        assert "its table has primary_key=(id): the query's key is (id, amount)" in results[0].message
        run_dbt(["run", "--full-refresh"])
        assert self.found(rows, table) == [(number, part, "n") for number in range(3) for part in range(2)]

    def test_a_kept_table_with_a_longer_key_is_refreshed_as_a_whole(self, project: Any, rows: Any, table: str) -> None:
        rows(f"drop table {table}.star")
        options = "'primary-key' = 'id,amount', 'dbt.materialized-view' = 'true'"
        rows(f"create table {table}.star (id int, amount int, name string) tblproperties ({options})")
        write_file(view(on_configuration_change="continue"), project.project_root, "models", "star.sql")
        run_dbt(["run"])
        rows(f"insert into {table}.names values (2, 'two')")
        results = run_dbt(["run"])
        assert self.found(rows, table) == self.expected(rows, table)
        assert refresh_of(results) == "full: primary_key is (id, amount), but the key of the query is (id)"

    def test_audited_before_its_commit(self, project: Any, rows: Any, table: str) -> None:
        write_file(view(wap=True), project.project_root, "models", "star.sql")
        schema = (
            f"models:\n  - name: star\n    columns:\n      - name: amount\n        data_tests: [not_null]\n{SOURCES}"
        )
        write_file(schema, project.project_root, "models", "sources.yml")
        try:
            rows(f"insert into {table}.facts values (1, 2, 11), (20, 0, 1)")
            rows(f"delete from {table}.facts where id = 4")
            run_dbt(["run"])
            assert self.found(rows, table) == self.expected(rows, table)
            before = self.found(rows, table)
            rows(f"insert into {table}.facts values (2, 2, null)")
            run_dbt(["run"], expect_pass=False)
            assert self.found(rows, table) == before
            rows(f"insert into {table}.facts values (2, 2, 5)")
            assert refresh_of(run_dbt(["run"])).startswith("incremental, 1 of")
            assert self.found(rows, table) == self.expected(rows, table)
        finally:
            write_file(SOURCES, project.project_root, "models", "sources.yml")

    def test_a_contract(self, project: Any, rows: Any, table: str) -> None:
        sql = "select f.id, f.amount, 'n' as name from {{ source('raw', 'facts') }} f"
        write_file(view(sql, on_rebuild="drop_history"), project.project_root, "models", "star.sql")
        columns = "".join(
            f"      - {{name: {name}, data_type: {kind}}}\n"
            for name, kind in (("id", "int"), ("amount", "int"), ("name", "string"))
        )
        schema = (
            f"models:\n  - name: star\n    config: {{contract: {{enforced: true}}}}\n    columns:\n{columns}{SOURCES}"
        )
        write_file(schema, project.project_root, "models", "sources.yml")
        try:
            run_dbt(["run"])
            rows(f"insert into {table}.facts values (1, 2, 11)")
            rows(f"delete from {table}.facts where id = 4")
            assert refresh_of(run_dbt(["run"])).startswith("incremental, 2 of")
            assert (1, 11, "n") in self.found(rows, table)
            assert {row[0] for row in self.found(rows, table)} == {0, 1, 2, 3, 5, 6, 7, 8, 9}
        finally:
            write_file(SOURCES, project.project_root, "models", "sources.yml")

    def test_a_char_column_in_the_key_or_the_groups(self, project: Any, rows: Any, table: str) -> None:
        # The table pads the names with spaces; the rows of a refresh do not have them yet.
        sql = "select n.name, count(*) as n from {{ source('raw', 'names') }} as n group by n.name"
        contract = "{contract: {enforced: true}}"
        columns = "[{name: name, data_type: char(5)}, {name: n, data_type: bigint}]"
        schema = SOURCES + "models:\n"
        for name, config in (("by_name", {}), ("by_name_keyed", {"primary_key": "name"})):
            write_file(view(sql, **config), project.project_root, "models", f"{name}.sql")
            schema += f"  - {{name: {name}, config: {contract}, columns: {columns}}}\n"
        write_file(schema, project.project_root, "models", "sources.yml")
        try:
            run_dbt(["run"])
            rows(f"insert into {table}.names values (2, 'two'), (3, 'two'), (4, 'zero')")
            rows(f"delete from {table}.names where id = 1")
            results = run_dbt(["run"])
            for name in ("by_name", "by_name_keyed"):
                assert sorted(rows(f"select name, n from {table}.{name}")) == [("two  ", 2), ("zero ", 2)], name
                assert refresh_of(results, name).startswith(f"full: {project.test_schema}.{name} has a char column")
        finally:
            for name in ("by_name", "by_name_keyed"):
                project.project_root.join("models", f"{name}.sql").remove()
            write_file(SOURCES, project.project_root, "models", "sources.yml")

    def test_case_sensitive_names(self, project: Any, rows: Any, table: str) -> None:
        rows(f"drop table {table}.star")
        rows(f"create table {table}.upper (Id int, Amount int) tblproperties ('primary-key' = 'Id', 'bucket' = '1')")
        rows(f"insert into {table}.upper values (1, 10), (2, 20)")
        query = f"select Id, Amount, 'n' as name from {table}.upper"
        model = view(query, pre_hook="set spark.sql.caseSensitive = true")
        write_file(model, project.project_root, "models", "star.sql")
        run_dbt(["run"])
        rows(f"insert into {table}.upper values (2, 21), (3, 30)")
        assert refresh_of(run_dbt(["run"])) == "full: spark.sql.caseSensitive is true"
        assert self.found(rows, table) == [(1, 10, "n"), (2, 21, "n"), (3, 30, "n")]

    def test_a_header_applies_to_all_rows(self, project: Any, rows: Any, table: str) -> None:
        query = "select f.id, hour(timestamp_seconds(f.id)) as amount, 'n' as name from {{ source('raw', 'facts') }} f"
        for zone, hour in (("UTC", 0), ("Asia/Tokyo", 9)):
            header = f"set spark.sql.session.timeZone = {zone}"
            write_file(view(query, sql_header=header), project.project_root, "models", "star.sql")
            assert refresh_of(run_dbt(["run"])) == "full: it has a sql_header"
            assert {row[1] for row in self.found(rows, table)} == {hour}

    def test_a_query_that_spark_can_read_only_after_its_hooks(self, project: Any, rows: Any, table: str) -> None:
        for added in ("sql_header", "pre_hook"):
            query = f"select f.id, f.of_{added} as amount, 'n' as name from {{{{ source('raw', 'facts') }}}} f"
            config = {added: f"alter table {table}.facts add column of_{added} int", "on_rebuild": "drop_history"}
            write_file(view(query, **config), project.project_root, "models", "star.sql")
            assert refresh_of(run_dbt(["run"])).startswith("full: ")
            assert self.found(rows, table) == [(number, None, "n") for number in range(10)]
        # Without a hook, it is a mistake.
        write_file(view(STAR.replace("f.amount", "f.amuont")), project.project_root, "models", "star.sql")
        (result,) = run_dbt(["run"], expect_pass=False)
        assert "amuont" in result.message
        assert self.found(rows, table) == [(number, None, "n") for number in range(10)]


class TestCommands(Life):
    def test_empty_and_then_a_run(self, project: Any, rows: Any, table: str) -> None:
        assert refresh_of(run_dbt(["run", "--empty"])) == "full: --empty or --sample"
        assert self.found(rows, table) == []
        assert refresh_of(run_dbt(["run"])).startswith("full")
        assert self.found(rows, table) == self.expected(rows, table)

    def test_plan_says_what_the_run_does(self, project: Any, rows: Any, table: str) -> None:
        def planned() -> dict[str, Any]:
            place = ["--project-dir", str(project.project_root), "--profiles-dir", str(project.profiles_dir)]
            ended = CliRunner().invoke(main, ["plan", "--output", "json", *place])
            assert ended.exit_code == 0, ended.output
            lines = [line for line in ended.output.splitlines() if line.startswith('{"unique_id": "model.')]
            return dict(json.loads(lines[0]))

        assert planned()["does"] == "nothing"
        rows(f"insert into {table}.facts values (1, 2, 11)")
        assert planned()["does"] == "increment"
        assert refresh_of(run_dbt(["run"])).startswith("incremental, 1 of")
        rows(f"delete from {table}.star where id = 3")
        assert planned()["does"] == "rebuild in place"

    def test_a_snapshot_and_changes_of_a_view(self, project: Any, rows: Any, table: str) -> None:
        model = "{{ config(materialized='incremental') }}\nselect * from {{ paimon_changes(ref('star')) }}"
        write_file(model, project.project_root, "models", "log.sql")
        snapshot = """{% snapshot kept %}{{ config(unique_key='id', strategy='check', check_cols='all') }}
select * from {{ ref('star') }}{% endsnapshot %}"""
        write_file(snapshot, project.project_root, "snapshots", "kept.sql")
        try:
            run_dbt(["build"])
            rows(f"insert into {table}.facts values (1, 2, 11)")
            rows(f"delete from {table}.facts where id = 4")
            run_dbt(["build"])
            last = rows(f"select id, _row_kind from {table}.log order by id desc")
            assert rows(f"select count(*) from {table}.kept where dbt_valid_to is not null")[0][0] >= 1
            assert sorted(rows(f"select id, amount, name from {table}.kept where id = 1 and dbt_valid_to is null")) == [
                (1, 11, None)
            ]
            assert (4, "-D") in last
        finally:
            (project.project_root.join("models", "log.sql")).remove()
            (project.project_root.join("snapshots", "kept.sql")).remove()
