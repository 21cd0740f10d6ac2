"""A virtual environment for each tool, kept in the cache of the tests: what its page has a user install, and this checkout's wheel."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from integration.services import maven

ROOT: Final = Path(__file__).parents[3]
TIMEOUT: Final = 3000
# As in the Makefile: its source distribution downloads while it builds.
_NO_PARSER: Final = "dbt-core-experimental-parser; sys_platform == 'never'\n"
# What would let this checkout, or the environment of the tests, into those of the tools.
_LEAKS: Final = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SPARK_HOME", "PYTEST_ADDOPTS")


def uv() -> str:
    """The command `uv`, the environment's own or the machine's."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    assert found, "uv is neither beside Python nor on the PATH: run `make venv`"
    return found


def build_wheel(folder: Path) -> Path:
    """The wheel of this checkout."""
    subprocess.run([uv(), "build", "--quiet", "--wheel", "--out-dir", str(folder)], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Environment:
    """What is installed in a folder, and how commands are run with it."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def packages(self) -> Path:
        """Its site-packages."""
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def run(self, command: str, folder: Path, *, returns: int = 0, **environ: str) -> str:
        """Run a line of a page in a folder; returns what it prints to its output.

        Raises:
            Failed: it ends with another code, with all that it printed.
        """
        kept = {key: value for key, value in os.environ.items() if key not in _LEAKS}
        path = f"{self.bin}{os.pathsep}{kept['PATH']}"
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**kept, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **self.environ, **environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        if done.returncode != returns:
            pytest.fail(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}", pytrace=False)
        return done.stdout

    def rows(self, query: str, project: Path) -> list[dict[str, object]]:
        """The rows of a query of a project with `ref()`, by `dbt show`."""
        shown = self.run(f"dbt --quiet show --limit -1 --output json --inline {shlex.quote(query)}", project)
        found: list[dict[str, object]] = json.loads(shown)["show"]
        return found

    def versions(self) -> dict[str, str]:
        """Of each package, by its name."""
        listed = subprocess.run(
            [uv(), "pip", "list", "--quiet", "--format", "json", "--python", str(self.folder)],
            capture_output=True,
            text=True,
            check=True,
        )
        return {package["name"]: package["version"] for package in json.loads(listed.stdout)}


def environment(name: str, install: str, wheel: Path, folder: Path | None = None) -> Environment:
    """Make one, or bring the one in the cache up to date with the wheel.

    Args:
        name: of its folder.
        install: a page's `pip install …`; `dbt-paimon` among its packages is the wheel.
        wheel: of dbt-paimon.
        folder: elsewhere than in the cache.
    """
    line = ".".join(map(str, sys.version_info[:2]))
    folder = folder or maven.cache() / "tools" / f"{name}-{line}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    overrides = folder.with_name(f"{folder.name}-overrides.txt")
    overrides.write_text(_NO_PARSER)
    subprocess.run([uv(), "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)], check=True)
    (pip, verb, *packages) = install.replace("'", "").split()
    assert [pip, verb] == ["pip", "install"], install
    wanted = [f"{package} @ {wheel.as_uri()}" if package.startswith("dbt-paimon") else package for package in packages]
    command = [uv(), "pip", "install", "--quiet", "--no-config", "--python", str(folder)]
    command += ["--overrides", str(overrides), "--reinstall-package", "dbt-paimon"]
    subprocess.run([*command, *wanted], check=True)
    return Environment(folder)
