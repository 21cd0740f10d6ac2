"""`dbt-paimon env`: the steps from create to drop, interrupted promotions, and refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from dbt.tests.util import run_dbt, write_file

from dbt_paimon.cli import main
from dbt_paimon.env import journal
from functional.pull_requests.test_the_loop import AFTER, BEFORE, CUSTOMERS, ORDERS, PROPERTIES

DAYS = "{{ config(schema='marts') }} select day, sum(revenue) as revenue from {{ ref('customers') }} group by day"
KEYED = "{{ config(primary_key='day', bucket=1) }} select day, revenue, 'old' as note from {{ ref('days') }}"
RATES = "{{ config(materialized='view') }} select day, revenue / 2 as half from {{ ref('days') }}"
MODELS = {
    "orders.sql": ORDERS,
    "customers.sql": CUSTOMERS,
    "days.sql": "{{ config(materialized='table') }}" + DAYS,
    "keyed.sql": "{{ config(materialized='table') }}" + KEYED,
    "rates.sql": RATES,
    "shop.yml": PROPERTIES,
}
# The change in the pull request: it alters values, a primary key and columns, and adds a model.
CHANGED = {
    "customers.sql": CUSTOMERS.replace(BEFORE, AFTER),
    "keyed.sql": "{{ config(materialized='table', primary_key=['day', 'note'], bucket=1) }}"
    "select day, revenue, 'new' as note, 1 as more from {{ ref('days') }}",
    "added.sql": "{{ config(materialized='table') }} select count(*) as days from {{ ref('keyed') }}",
}
PUBLISHED = ("customers", "days", "keyed", "added", "fees")
FEES = "day,fee\n2026-11-01,1\n"

Env = Callable[..., Result]


class Shop:
    """A project that is built in production; the folder `production` contains its manifest."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"fees.csv": FEES}

    @pytest.fixture(scope="class")
    def schemas(self, unique_schema: str) -> dict[str, str]:
        """Model -> its schema in production."""
        return {name: f"{unique_schema}_marts" if name == "days" else unique_schema for name in (*PUBLISHED, "orders")}

    @pytest.fixture
    def env(self, project: Any, rows: Any) -> Iterator[Env]:
        """Function: runs `dbt-paimon env`. Production has been built with the original code."""
        for name, text in MODELS.items():
            write_file(text, project.project_root, "models", name)
        write_file(FEES, project.project_root, "seeds", "fees.csv")
        for name in CHANGED.keys() - MODELS.keys():
            Path(project.project_root, "models", name).unlink(missing_ok=True)
        suffixes = ("", "_marts", "__pr_7", "__pr_7_marts")
        for suffix in suffixes:
            rows(f"drop database if exists paimon.{project.test_schema}{suffix} cascade")
        run_dbt(["build", *places_of(project)])
        state = Path(project.project_root) / "production"
        state.mkdir(exist_ok=True)
        (state / "manifest.json").write_bytes((Path(project.project_root) / "target/manifest.json").read_bytes())

        def run(*words: str) -> Result:
            return CliRunner().invoke(main, ["env", *words, *places_of(project)])

        yield run
        for suffix in suffixes:
            rows(f"drop database if exists paimon.{project.test_schema}{suffix} cascade")

    @pytest.fixture
    def change(self, project: Any) -> Callable[[], None]:
        """Function: writes the changes of the pull request into the project."""

        def make() -> None:
            for name, text in CHANGED.items():
                write_file(text, project.project_root, "models", name)
            write_file(f"{FEES}2026-11-02,2\n", project.project_root, "seeds", "fees.csv")

        return make

    @pytest.fixture
    def production(self, rows: Any, schemas: dict[str, str]) -> Callable[[], dict[str, Any]]:
        """Function: the rows of production's tables; None for a table that does not exist."""

        def read() -> dict[str, Any]:
            found = {}
            for name in PUBLISHED:
                there = (name,) in {row[1:2] for row in rows(f"show tables in paimon.{schemas[name]}")}
                found[name] = sorted(rows(f"select * from paimon.{schemas[name]}.{name}")) if there else None
            return found

        return read


def places_of(project: Any) -> list[str]:
    """dbt's options for the test's project. Without them, dbt would use the flags of the previous command."""
    return ["--project-dir", str(project.project_root), "--profiles-dir", str(project.profiles_dir)]


def done(result: Result, code: int = 0) -> str:
    assert result.exit_code == code, result.output
    return result.output


class TestFromCreateToDrop(Shop):
    def test_full_lifecycle(
        self, env: Env, change: Any, production: Any, rows: Any, project: Any, schemas: Any, warehouse: Path
    ) -> None:
        here, table = f"{project.test_schema}__pr_7", f"paimon.{project.test_schema}.`customers${{}}`"
        old = production()
        history = rows(f"select * from {table.format('snapshots')}")
        change()
        done(env("create", "pr-7", "--state", "production"))

        # Production is unchanged, and its rows were not copied: the environment's files belong to rebuilt tables.
        assert production() == old
        assert rows(f"select * from {table.format('snapshots')}") == history
        assert rows(f"select branch_name from {table.format('branches')}") == [(here,)]
        tables = {path.parts[-3] for path in (warehouse / f"{here}.db").rglob("*/bucket-*/*.*")}
        assert tables == {"keyed", "added", "fees", journal.TABLE}
        assert rows(f"select count(*) from spark_catalog.{here}.orders") == [(120,)]

        found = done(env("diff", "pr-7"))
        assert "6 changed" in found
        assert "the table is new" in found
        new = {name: self.in_environment(rows, here, name) for name in PUBLISHED}
        assert new["customers"] != old["customers"]

        done(env("promote", "pr-7"))
        assert production() == new
        # The promotion added one commit and kept the history.
        assert rows(f"select * from {table.format('snapshots')} order by 1")[:-1] == history
        assert "already promoted" in done(env("promote", "pr-7"))

        done(env("drop", "pr-7"))
        assert production() == new
        for what in ("branches", "tags"):
            assert rows(f"select * from {table.format(what)}") == []
        assert not {(here,), (f"{here}_marts",)} & set(rows("show databases in paimon"))
        assert "There is no environment" in done(env("promote", "pr-7"), 1)

        # rollback_run undoes a promotion like any other run. It cannot undo `keyed`, which was swapped, and `added`, which
        # is new.
        run_dbt(["run-operation", "rollback_run", "--args", "{exclude: [keyed, added]}", *places_of(project)])
        undone = production()
        assert {name: undone[name] for name in ("customers", "days")} == {
            name: old[name] for name in ("customers", "days")
        }

    @staticmethod
    def in_environment(rows: Any, here: str, name: str) -> Any:
        home = "spark_catalog" if name == "customers" else "paimon"
        return sorted(rows(f"select * from {home}.{here}{'_marts' if name == 'days' else ''}.{name}"))


class TestInterrupted(Shop):
    @pytest.mark.parametrize("heal", ["promote", "drop"])
    def test_an_interrupted_promotion_is_finished(
        self, env: Env, change: Any, production: Any, monkeypatch: pytest.MonkeyPatch, heal: str
    ) -> None:
        old = production()
        change()
        done(env("create", "pr-7", "--state", "production"))
        with monkeypatch.context() as patch:
            patch.setattr(journal, "write", fails_after(3))
            done(env("promote", "pr-7"), 1)
        between = production()
        assert between["customers"] != old["customers"]
        assert between["added"] is None
        assert "promotion was interrupted" in done(env("create", "pr-7", "--state", "production"), 1)
        done(env(heal, "pr-7"))
        healed = production()
        assert healed["customers"] == between["customers"]
        assert healed["added"] == [(3,)]
        assert {row[2] for row in healed["keyed"]} == {"new"}


def fails_after(times: int) -> Callable[..., None]:
    """A replacement for `journal.write` that succeeds the given number of times, then fails."""
    write, left = journal.write, [None] * times

    def limited(*arguments: Any) -> None:
        left.pop()
        write(*arguments)

    return limited


class TestRefused(Shop):
    def test_changed_production_is_not_overwritten(
        self, env: Env, change: Any, production: Any, rows: Any, schemas: dict[str, str]
    ) -> None:
        change()
        done(env("create", "pr-7", "--state", "production"))
        rows(f"insert into paimon.{schemas['days']}.days values ('2026-12-01', 1)")
        changed = production()
        refused = done(env("promote", "pr-7"), 1)
        assert f"{schemas['days']}.days: it was written again (table snapshot 2)" in refused
        assert "customers:" not in refused
        assert "env create pr_7" in refused
        assert production() == changed
        # Do what the message says.
        done(env("create", "pr-7", "--state", "production"))
        done(env("promote", "pr-7"))
        assert production()["added"] == [(3,)]

    @pytest.mark.parametrize("words", [("create", "--state", "production"), ("drop", "--force")])
    def test_a_schema_of_other_tables_is_kept(
        self, env: Env, change: Any, production: Any, rows: Any, project: Any, words: tuple[str, ...]
    ) -> None:
        old, taken = production(), f"paimon.{project.test_schema}__pr_7"
        change()
        rows(f"create database {taken}")
        rows(f"create table {taken}.customers as select 1 as id")
        command, *rest = words
        assert "is not of this environment" in done(env(command, "pr-7", *rest), 1)
        assert rows(f"select * from {taken}.customers") == [(1,)]
        assert production() == old
        # Do what the message says.
        rows(f"drop database {taken} cascade")
        done(env("create", "pr-7", "--state", "production"))

    def test_invalid_environments_are_refused(self, env: Env, change: Any, project: Any, production: Any) -> None:
        old = production()
        write_file(
            CUSTOMERS.replace("sum(amount)", "nullif(sum(amount), 200)"),
            project.project_root,
            "models",
            "customers.sql",
        )
        assert "not_null_customers_revenue" in done(env("create", "pr-7", "--state", "production"), 1)
        assert "a node or data test of the environment failed" in done(env("promote", "pr-7"), 1)
        change()
        done(env("create", "pr-7", "--state", "production"))
        write_file(DAYS.replace("sum(", "max("), project.project_root, "models", "days.sql")
        assert "model.test.days" in done(env("promote", "pr-7"), 1)
        write_file(MODELS["days.sql"], project.project_root, "models", "days.sql")
        keyed = "models: [{name: added, config: {primary_key: days, bucket: 1}}]"
        write_file(keyed, project.project_root, "models", "keyed.yml")
        assert "built with: model.test.added. They were not written" in done(env("promote", "pr-7"), 1)
        Path(project.project_root, "models", "keyed.yml").unlink()
        assert "cannot be part of a schema's name" in done(env("create", "pr/7", "--state", "production"), 1)
        assert "cannot be read as a manifest" in done(env("create", "pr-7", "--state", "elsewhere"), 1)
        assert production() == old


# A promotion would lose the rows of one that wait for a compaction, and write the rows of the other's hook twice.
UNSAFE = {
    "waiting.sql": "{{ config(materialized='incremental', primary_key='id', bucket=1, tblproperties={"
    "'deletion-vectors.enabled': 'true', 'write-only': 'true'}) }} select 1 as id",
    "hooked.sql": "{{ config(materialized='table', post_hook='insert into {{ this }} values (2)') }} select 1 as id",
}


class TestUnsafeNodes(Shop):
    def test_production_keeps_their_rows(self, env: Env, rows: Any, project: Any) -> None:
        for name, text in UNSAFE.items():
            write_file(text, project.project_root, "models", name)
        run_dbt(["run", "--select", "waiting", "hooked", *places_of(project)])
        root = Path(project.project_root)
        (root / "production/manifest.json").write_bytes((root / "target/manifest.json").read_bytes())
        for name, text in UNSAFE.items():
            write_file(f"{text} where true", project.project_root, "models", name)
        done(env("create", "pr-7", "--state", "production"))
        done(env("promote", "pr-7"))
        rows(f"call paimon.sys.compact(table => '{project.test_schema}.waiting')")
        assert rows(f"select * from paimon.{project.test_schema}.waiting") == [(1,)]
        assert sorted(rows(f"select * from paimon.{project.test_schema}.hooked")) == [(1,), (2,)]


class TestRenamedModel(Shop):
    def test_production_keeps_its_rows(self, env: Env, rows: Any, project: Any) -> None:
        """The state does not know the new model, but production has its table, with rows that its query lacks."""
        models, log = Path(project.project_root, "models"), f"paimon.{project.test_schema}.log"
        write_file("{{ config(materialized='incremental') }} select 1 as id", models, "log.sql")
        run_dbt(["run", "--select", "log", *places_of(project)])
        rows(f"insert into {log} values (2)")
        manifest = Path(project.project_root, "target/manifest.json").read_bytes()
        Path(project.project_root, "production/manifest.json").write_bytes(manifest)
        (models / "log.sql").unlink()
        write_file("{{ config(materialized='incremental', alias='log') }} select 3 as id", models, "visits.sql")
        done(env("create", "pr-7", "--state", "production"))
        done(env("promote", "pr-7"))
        (models / "visits.sql").unlink()
        assert sorted(rows(f"select * from {log}")) == [(1,), (2,), (3,)]
