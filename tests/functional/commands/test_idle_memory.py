"""The JVM of an idle shell returns memory to the operating system."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from own_process import write_project

MODEL = """{{ config(materialized='table', primary_key='id', bucket=2) }}
select id, concat('name ', id) as name, id % 7 as n from range(3000000)"""
# Builds once, prints Java's process ID, and waits as an idle shell does.
SHELL = """
import sys
from pathlib import Path
import psutil
from dbt_paimon.shell.project import Project

folder = sys.argv[1]
assert Project(Path(folder), {"project_dir": folder, "profiles_dir": folder}).run(["--quiet", "run"]).success
(java,) = [each for each in psutil.Process().children(recursive=True) if each.name() == "java"]
print(f"java {java.pid}", flush=True)
sys.stdin.read()
"""
# The JVM returns memory after a minute or two of idling, and later on a busy machine.
SECONDS = 420


@pytest.mark.full
def test_an_idle_jvm_returns_memory(tmp_path: Path) -> None:
    target = {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "warehouse": str(tmp_path / "lake"),
        "schema": "idle",
        "threads": 1,
        "spark_config": {"spark.driver.memory": "3g", "spark.driver.extraJavaOptions": "-XX:+UseG1GC"},
    }
    write_project(tmp_path, target, {"models/big.sql": MODEL})
    with subprocess.Popen(
        [sys.executable, "-c", SHELL, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as shell:
        assert shell.stdin is not None and shell.stdout is not None
        pid = next(line.split()[1] for line in shell.stdout if line.startswith("java "))
        java = psutil.Process(int(pid))
        busy = idle = java.memory_info().rss
        end = time.monotonic() + SECONDS
        while idle >= 0.8 * busy and time.monotonic() < end:
            time.sleep(5)
            idle = java.memory_info().rss
        shell.stdin.close()
    assert idle < 0.8 * busy
