"""`dbt-paimon env` from `create` to `drop`, for any target."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.tests.util import get_connection, run_dbt, write_file

from dbt_paimon.cli import main
from functional.env.test_env import done, places_of
from functional.pull_requests.test_the_loop import AFTER, BEFORE, CUSTOMERS, ORDERS, PROPERTIES

Rows = list[tuple[Any, ...]]


class EnvironmentTests:
    """Subclasses define `dbt_profile_target`, and whether incremental models are copied, because there is no branch."""

    copies = False

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"orders.sql": ORDERS, "customers.sql": CUSTOMERS, "shop.yml": PROPERTIES}

    def test_from_create_to_drop(self, project: Any) -> None:
        def env(*words: str) -> str:
            return done(CliRunner().invoke(main, ["env", *words, *places_of(project)]))

        schema, root = project.test_schema, Path(project.project_root)
        here = f"{schema}__pr_7"
        # Tests with other parameters have the same project folder.
        write_file(CUSTOMERS, project.project_root, "models", "customers.sql")
        run_dbt(["build", *places_of(project)])
        shutil.copytree(root / "target", root / "production", dirs_exist_ok=True)
        old = rows_of(project, schema, "customers")
        write_file(CUSTOMERS.replace(BEFORE, AFTER), project.project_root, "models", "customers.sql")
        created = env("create", "pr-7", "--state", "production")
        assert (f"Copied {schema}.customers: 60 rows, " in created) == self.copies
        assert rows_of(project, schema, "customers") == old
        assert len(rows_of(project, here, "orders")) == 120
        assert "6 changed" in env("diff", "pr-7")
        new = rows_of(project, here, "customers")
        env("promote", "pr-7")
        assert rows_of(project, schema, "customers") == new != old
        env("drop", "pr-7")
        with get_connection(project.adapter):
            assert here not in project.adapter.list_schemas(project.adapter.credentials.database)
        assert rows_of(project, schema, "customers") == new


def rows_of(project: Any, schema: str, name: str) -> Rows:
    """The sorted rows of a table or view. Some targets keep views in another catalog than tables."""
    adapter = project.adapter
    with get_connection(adapter):
        relation = adapter.get_relation(adapter.credentials.database, schema, name)
        _, found = adapter.execute(f"select * from {relation.render()}", fetch=True)
    return sorted(map(tuple, found.rows))
