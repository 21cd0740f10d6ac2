"""The scripts of the action in deploy/ci, in the order of a pull request: create, comment, promote, drop."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.tests.util import run_dbt, write_file

from doc_pages import ROOT
from functional.env.test_env import places_of
from functional.pull_requests.test_the_loop import CUSTOMERS, ORDERS

ACTION = ROOT / "deploy/ci"
# A replacement for gh: saves the arguments, and the file in `gh pr comment 7 … --body-file FILE`.
GH = '#!/bin/sh\necho "$@" > "$COMMENTS/arguments"\nfor last; do :; done\ncp "$last" "$COMMENTS/comment.md"\n'


def test_each_step_runs_a_script() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    steps = action["runs"]["steps"]
    scripts = [step["run"].strip('"').removeprefix("$GITHUB_ACTION_PATH/") for step in steps]
    assert scripts == ["create.sh", "comment.sh", "promote.sh", "drop.sh"]
    assert all(os.access(ACTION / script, os.X_OK) for script in scripts)
    for step in steps:
        text = (ACTION / step["run"].strip('"').removeprefix("$GITHUB_ACTION_PATH/")).read_text()
        text += (ACTION / "settings.sh").read_text()
        assert all(name in text for name in step["env"] if name != "GH_TOKEN")


@pytest.mark.full
class TestPullRequest:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"orders.sql": ORDERS, "customers.sql": CUSTOMERS}

    def test_from_open_to_close(self, project: Any, rows: Any, tmp_path: Path) -> None:
        schema, root = project.test_schema, Path(project.project_root)
        run_dbt(["build", *places_of(project)])
        shutil.copytree(root / "target", root / "production")
        old = sorted(rows(f"select * from paimon.{schema}.customers"))
        paid = CUSTOMERS.replace("sum(amount)", "sum(amount) filter (where status = 'paid')")
        write_file(paid, project.project_root, "models", "customers.sql")
        self.tools(tmp_path)
        settings = {
            "ENV_NAME": "pr-7",
            "STATE": "production",
            "TARGET_NAME": "default",
            "PROJECT_FOLDER": project.project_root,
            "DBT_PROFILES_DIR": project.profiles_dir,
            "PR": "7",
            "CREATED": "success",
            "COMMENTS": str(tmp_path),
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
        }

        def run(script: str) -> None:
            done = subprocess.run(
                [ACTION / script], env=os.environ | settings, cwd=root, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr

        run("create.sh")
        run("comment.sh")
        assert sorted(rows(f"select * from paimon.{schema}.customers")) == old
        assert (tmp_path / "arguments").read_text().startswith("pr comment 7 --edit-last --create-if-none --body-file ")
        comment = (tmp_path / "comment.md").read_text()
        assert f"### `{schema}__pr_7.customers`: 6 changed" in comment
        assert f"{schema}.customers (incremental, upsert): rebuild" in comment

        run("promote.sh")
        new = sorted(rows(f"select * from paimon.{schema}.customers"))
        assert [len(old), sum(a != b for a, b in zip(old, new, strict=True))] == [60, 6]
        run("drop.sh")
        assert sorted(rows(f"select * from paimon.{schema}.customers")) == new
        assert (f"{schema}__pr_7",) not in rows("show databases in paimon")

    @staticmethod
    def tools(folder: Path) -> None:
        """Write the commands that the scripts call: this checkout's dbt-paimon, and a `gh` that saves the comment."""
        paimon = f'#!/bin/sh\nexec "{sys.executable}" -m dbt_paimon.cli "$@"\n'
        for name, text in {"gh": GH, "dbt-paimon": paimon}.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
