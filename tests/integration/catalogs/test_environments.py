"""`dbt-paimon env` on a JDBC catalog, which has no branches: incremental models are copied, and the command says so."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.tests.util import run_dbt, write_file

from dbt_paimon.cli import main
from functional.env.test_env import done, places_of
from functional.pull_requests.test_the_loop import CUSTOMERS, ORDERS, PROPERTIES
from integration.catalogs.base import sqlite_target


class TestJdbc:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"orders.sql": ORDERS, "customers.sql": CUSTOMERS, "shop.yml": PROPERTIES}

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, tmp_path_factory: Any, spark_config: dict[str, Any]) -> dict[str, Any]:
        return sqlite_target(tmp_path_factory.mktemp("sqlite"), spark_config)

    def test_from_create_to_drop(self, project: Any, rows: Any) -> None:
        def env(*words: str) -> str:
            return done(CliRunner().invoke(main, ["env", *words, *places_of(project)]))

        schema, root = project.test_schema, Path(project.project_root)
        run_dbt(["build", *places_of(project)])
        shutil.copytree(root / "target", root / "production")
        old = sorted(rows(f"select * from paimon.{schema}.customers"))
        paid = CUSTOMERS.replace("sum(amount)", "sum(amount) filter (where status = 'paid')")
        write_file(paid, project.project_root, "models", "customers.sql")
        assert f"Copied {schema}.customers: 60 rows, " in env("create", "pr-7", "--state", "production")
        assert sorted(rows(f"select * from paimon.{schema}.customers")) == old
        assert rows(f"select count(*) from spark_catalog.{schema}__pr_7.orders") == [(120,)]
        assert "6 changed" in env("diff", "pr-7")
        new = sorted(rows(f"select * from paimon.{schema}__pr_7.customers"))
        env("promote", "pr-7")
        assert sorted(rows(f"select * from paimon.{schema}.customers")) == new != old
        env("drop", "pr-7")
        assert (f"{schema}__pr_7",) not in rows("show databases in paimon")
        assert sorted(rows(f"select * from paimon.{schema}.customers")) == new
