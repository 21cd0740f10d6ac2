"""pytest plugin: the class archive is there before the workers start, so that they and their runs of dbt start with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import yaml

from dbt.adapters.paimon.machine.cache_folder import cache_folder

_DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "debug"]


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Have a short run make it: the workers' JVMs, one of which would, end when all tests have."""
    if hasattr(session.config, "workerinput") or not session.config.getoption("numprocesses", None):
        return
    if any(cache_folder().glob("classes-*.jsa")):
        return
    with tempfile.TemporaryDirectory() as folder:
        # Jars that are fetched first are on no class path yet.
        for archive in ("0", "1"):
            _debug(Path(folder), {"DBT_PAIMON_CLASS_ARCHIVE": archive})
    _wait_for_archive()


def _debug(folder: Path, variables: dict[str, str]) -> None:
    target = {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "warehouse": str(folder / "warehouse"),
        "schema": "any",
    }
    folder.joinpath("profiles.yml").write_text(yaml.safe_dump({"p": {"target": "t", "outputs": {"t": target}}}))
    folder.joinpath("dbt_project.yml").write_text(yaml.safe_dump({"name": "p", "profile": "p"}))
    subprocess.run(_DBT, cwd=folder, env=os.environ | variables, stdout=subprocess.DEVNULL, check=False, timeout=600)


def _wait_for_archive() -> None:
    """Until the JVM, which writes the archive after dbt has ended, is through; the tests do without if it is not."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        claims = list(cache_folder().glob("classes-*.pid"))
        if all(claim.with_suffix(".jsa").exists() for claim in claims):
            return
        time.sleep(0.5)
