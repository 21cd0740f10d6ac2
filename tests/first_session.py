"""pytest plugin: creates the class archive before the workers start, so that all their JVMs start with it."""

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
    """Create the archive with a short run. A worker's JVM would write it at its exit, when all tests have ended."""
    if hasattr(session.config, "workerinput") or not session.config.getoption("numprocesses", None):
        return
    if any(cache_folder().glob("classes-*.jsa")):
        return
    with tempfile.TemporaryDirectory() as folder:
        # The first run only downloads the jars, which are not on its class path yet.
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
    """Wait for the archive, at most a minute: the JVM writes it after dbt has ended. Tests also run without it."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        claims = list(cache_folder().glob("classes-*.pid"))
        if all(claim.with_suffix(".jsa").exists() for claim in claims):
            return
        time.sleep(0.5)
