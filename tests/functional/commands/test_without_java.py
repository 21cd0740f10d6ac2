"""Commands that need no catalog do not start Java; `compile` starts it if a model's Jinja reads the catalog."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

ASKS = "select '{{ load_relation(ref('plain')) }}' as relation, '{{ load_relation(ref('seen')) }}' as view"


class TestWithoutJava:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "plain.sql": "{{ config(materialized='table') }} select 1 as id",
            "seen.sql": "select * from {{ ref('plain') }}",
            "asks.sql": ASKS,
        }

    @pytest.mark.parametrize(
        ("command", "ends_well"),
        [
            ("compile --select plain seen", True),
            ("docs generate --empty-catalog --select plain seen", True),
            ("compile --select asks", False),
        ],
    )
    def test_commands(self, project, monkeypatch, command, ends_well):
        # Java cannot start from here, so a command that needs it fails.
        monkeypatch.setenv("JAVA_HOME", "/nowhere")
        places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
        ended = subprocess.run(
            [sys.executable, "-m", "dbt.cli.main", *command.split(), *places],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (ended.returncode == 0) is ends_well, ended.stdout
        assert ("JAVA_HOME is /nowhere" in ended.stdout) is not ends_well

    def test_what_jinja_asks_is_listed_then(self, project):
        run_dbt(["run", "--select", "plain", "seen"])
        run_dbt(["compile", "--select", "asks"])
        compiled = Path(project.project_root, "target", "compiled", "test", "models", "asks.sql").read_text()
        schema = project.test_schema
        assert f"`{schema}`.`plain`" in compiled
        assert f"`{schema}`.`seen`" in compiled
