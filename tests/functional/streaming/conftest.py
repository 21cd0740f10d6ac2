"""Fixtures for the tests of streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

KILLED = Path(__file__).with_name("killed_stream.py")


@pytest.fixture(scope="class")
def write(project: Any, rows: Callable[[str], Any]) -> Callable[..., None]:
    """Function: run statements on a source; `{t}` is its name in SQL, `{name}` its name for procedures."""

    def run_all(source: str, *statements: str) -> None:
        for statement in statements:
            name = f"{project.test_schema}.{source}"
            rows(statement.format(t=f"paimon.{name}", name=name))

    return run_all


@pytest.fixture(scope="class")
def killed(project: Any, profiles_root: Path) -> Callable[..., None]:
    """Function: run a stream in a process that kills itself at a point (see `killed_stream.py`)."""

    def run(table: str, batch: int, moment: str, *arguments: str) -> None:
        point = json.dumps({"table": table, "batch": batch, "moment": moment})
        folders = ["--project-dir", str(project.project_root), "--profiles-dir", str(profiles_root)]
        command = ["run", "--threads", "1", "--select", table, *folders, *arguments]
        ended = subprocess.run(
            [sys.executable, str(KILLED), point, *command],
            env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )
        assert ended.returncode == -9, f"{table}: batch {batch}, {moment}, was never reached"

    return run
