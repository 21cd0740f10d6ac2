"""clear_table, drop_table and drop_schema need a confirmation, and change only what the confirmation names."""

from __future__ import annotations

import shutil

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture

CONFIGS = {
    "plain": "materialized='table'",
    "keyed": "materialized='incremental', primary_key='id', bucket=1",
    "days": "materialized='table', primary_key=['id', 'day'], partition_by='day', bucket=1",
}


def operate(macro, table, confirm=None, *, variable=None):
    arguments = {"relation": table} | ({} if confirm is None else {"confirm": confirm})
    flags = [] if variable is None else ["--vars", f"confirm: {variable}"]
    return run_dbt(["run-operation", macro, "--args", str(arguments), *flags])


def refusal(macro, table, confirm=None) -> str:
    """Run the operation, which must fail; returns its output as one line."""
    arguments = {"relation": table} | ({} if confirm is None else {"confirm": confirm})
    _, output = run_dbt_and_capture(["run-operation", macro, "--args", str(arguments)], expect_pass=False)
    assert "Traceback" not in output
    return " ".join(output.split())


class TestClearAndDrop:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": f"{{{{ config({config}) }}}} select id, '2024-01-01' as day from range(3)"
            for name, config in CONFIGS.items()
        } | {
            "viewed.sql": "{{ config(materialized='view') }} select 1 as id",
            "changed.sql": "{{ config(materialized='incremental', incremental_strategy='apply_changes', primary_key='id', "
            "rowkind_field='op', sequence_field='seq') }} select id, op, 1L as seq from values (1, '+I'), (2, '-D') "
            "as t(id, op)",
            "fct_v1.sql": "{{ config(materialized='table') }} select id from range(3)",
            "fct_v2.sql": "{{ config(materialized='table') }} select id from range(3)",
            "versions.yml": "models: [{name: fct, latest_version: 2, versions: [{v: 1}, {v: 2}]}]",
        }

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        run_dbt(["run"])

    @pytest.mark.parametrize("name", CONFIGS)
    def test_clear(self, project, rows, name):
        count, snapshots = f"select count(*) from {{schema}}.{name}", f"{{schema}}.`{name}$snapshots`"
        before = rows(f"select count(*) from {snapshots}")[0][0]
        message = refusal("clear_table", name)
        assert f"paimon.{project.test_schema}.{name}, which holds 3 rows, 1 table snapshot, 0 tags" in message
        assert f"confirm: {name}" in message
        assert "which is a different name" in refusal("clear_table", name, "something")
        assert rows(count) == [(3,)]
        operate("clear_table", name, name)
        assert rows(count) == [(0,)]
        assert rows(f"select count(*) from {snapshots}") == [(before + 1,)]
        # The history stays, so a rollback is possible.
        operation = {"relation": name, "version": before}
        run_dbt(["run-operation", "rollback_to", "--args", str(operation)])
        assert rows(count) == [(3,)]

    def test_any_schema_and_catalog(self, project, rows):
        rows("create database paimon.`a place`")
        rows("create table paimon.`a place`.things using paimon as select 1 as id")
        rows("create database spark_catalog.elsewhere")
        rows("create table spark_catalog.elsewhere.facts using parquet as select 1 as id")
        try:
            operate("clear_table", "a place.things", variable="a place.things")
            assert rows("select * from paimon.`a place`.things") == []
            assert "holds 1 row. They cannot be restored" in refusal("clear_table", "spark_catalog.elsewhere.facts")
            for table in ("paimon.a place.things", "spark_catalog.elsewhere.facts"):
                operate("drop_table", table, table)
            assert rows("show tables in paimon.`a place`") == []
            assert rows("show tables in spark_catalog.elsewhere") == []
        finally:
            rows("drop database paimon.`a place` cascade")
            rows("drop database spark_catalog.elsewhere cascade")

    def test_drop(self, project, rows, warehouse):
        rows("create table {schema}.old using paimon as select 1 as id")
        rows(f"call paimon.sys.create_tag(table => '{project.test_schema}.old', tag => 'kept')")
        rows(f"call paimon.sys.create_branch(table => '{project.test_schema}.old', branch => 'fix')")
        message = refusal("drop_table", "old")
        assert "1 row, 1 table snapshot, 1 tag (kept), 1 branch (fix). They cannot be restored" in message
        assert rows("select * from {schema}.old") == [(1,)]
        # A table that cannot be read can be dropped, too.
        (folder,) = warehouse.glob(f"{project.test_schema}.db/old")
        shutil.rmtree(folder / "manifest")
        assert "whose contents cannot be read" in refusal("drop_table", "old")
        operate("drop_table", "old", "old")
        assert "old" not in {row[1] for row in rows("show tables in {schema}")}

    def test_a_name_of_several_tables(self, project, rows):
        tables = ", ".join(f"paimon.{project.test_schema}.fct_v{version}" for version in (1, 2))
        for macro in ("drop_table", "clear_table"):
            assert f"'fct' is the name of several tables: {tables}." in refusal(macro, "fct", "fct")
        delete = str({"relation": "fct", "where": "id = 1"})
        run_dbt(["run-operation", "delete_rows", "--args", delete], expect_pass=False)
        for version in (1, 2):
            assert rows(f"select count(*) from {{schema}}.fct_v{version}") == [(3,)]
        operate("drop_table", "fct_v1", "fct_v1")
        assert rows("show tables in {schema} like 'fct*'")[0][1] == "fct_v2"
        run_dbt(["run", "--select", "fct_v1"])

    def test_the_deletes_of_change_rows_go_too(self, project, rows):
        assert rows("select id from {schema}.changed__dbt_deletes") == [(2,)]
        operate("clear_table", "changed", "changed")
        assert rows("select id from {schema}.changed__dbt_deletes") == []
        operate("drop_table", "changed", "changed")
        assert not {row[1] for row in rows("show tables in {schema}")} & {"changed", "changed__dbt_deletes"}

    @pytest.mark.parametrize("macro", ["clear_table", "drop_table"])
    @pytest.mark.parametrize(("table", "said"), [("nothing", "there is no table"), ("viewed", "is a view")])
    def test_refused(self, project, rows, macro, table, said):
        assert said in refusal(macro, table, table)
        assert rows("select * from {schema}.keyed limit 1")
        assert rows(f"select count(*) from spark_catalog.{project.test_schema}.viewed") == [(1,)]

    def test_unknown_and_existing_names(self, project, rows):
        def says(macro, **arguments):
            words = ["run-operation", macro, "--args", str(arguments)]
            return run_dbt_and_capture(words, expect_pass=False)[1]

        assert "Did you mean keyed?" in says("create_tag", relation="keyd", tag="a")
        assert "drop_schema takes schema, not relation" in says("drop_schema", relation="keyed")
        assert rows("select count(*) from {schema}.`keyed$tags`") == [(0,)]
        # As if another process had created the table: dbt's cache does not have it.
        rows("create table {schema}.late using paimon as select 1 as id")
        run_dbt(["run-operation", "create_tag", "--args", "{relation: late, tag: a}"])
        rows("insert into {schema}.late values (2)")
        assert "Delete it first" in says("create_tag", relation="late", tag="a")
        assert rows("select tag_name from {schema}.`late$tags`") == [("a",)]
        rows("drop table {schema}.late")


class TestFailedOperation:
    """A failed operation releases its lock on the table, because dbt may run again in the same process."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return dbt_profile_target | {"lock_timeout": 5}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "empty.sql": "{{ config(materialized='incremental', primary_key='id') }} select 1 as id "
            "{% if not is_incremental() %} where false {% endif %}"
        }

    def test_the_next_run_writes(self, project, rows):
        run_dbt(["run"])
        # A table without rows has no table snapshot to tag.
        arguments = ["--args", "{relation: empty, tag: first}"]
        run_dbt(["run-operation", "create_tag", *arguments], expect_pass=False)
        run_dbt(["run"])
        assert rows("select id from {schema}.empty") == [(1,)]


class TestDropSchema:
    """drop_schema drops only the confirmed schema, such as a merged pull request's."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "one.sql": "{{ config(materialized='table') }} select 1 as id",
            "seen.sql": "select * from {{ ref('one') }}",
        }

    def drop(self, schema, *, confirm=None, passes=True):
        arguments = {"schema": schema} | ({} if confirm is None else {"confirm": confirm})
        _, output = run_dbt_and_capture(["run-operation", "drop_schema", "--args", str(arguments)], expect_pass=passes)
        return " ".join(output.split())

    def test_only_the_confirmed_one_goes(self, project, rows, warehouse):
        run_dbt(["run"])
        own = project.test_schema
        other = f"{own}_pr_7"
        rows(f"create database {other}")
        rows(f"create table {other}.kept using paimon as select 1 as id")
        assert f"paimon has no schema {own}_none" in self.drop(f"{own}_none", passes=False)
        assert "which holds 1 table and 1 view" in self.drop(own, passes=False)
        assert "which is a different name" in self.drop(other, confirm=own, passes=False)
        assert rows(f"select * from {other}.kept") == rows("select * from {schema}.one") == [(1,)]
        self.drop(other, confirm=other)
        assert not (warehouse / f"{other}.db").exists()
        assert rows("select * from {schema}.one") == [(1,)]
        run_dbt(["run"])

    def test_tables_of_sparks_catalog_stay(self, project, rows):
        run_dbt(["run"])
        own = project.test_schema
        theirs = f"spark_catalog.{own}"
        rows(f"create table {theirs}.facts using parquet as select 1 as id")
        rows(f"create view {theirs}.other as select * from {theirs}.facts")
        output = self.drop(own, confirm=own)
        assert own not in {row[0] for row in rows("show databases in paimon")}
        assert {row[1] for row in rows(f"show tables in {theirs}")} == {"facts", "other"}
        assert rows(f"select * from {theirs}.other") == [(1,)]
        assert f"The schema {own} of spark_catalog is kept" in output
        # Without them, the schema is dropped in both catalogs.
        rows(f"drop view {theirs}.other")
        rows(f"drop table {theirs}.facts")
        run_dbt(["run"])
        assert rows(f"select * from {theirs}.seen") == [(1,)]
        self.drop(own, confirm=own)
        assert own not in {row[0] for row in rows("show databases in spark_catalog")}
