"""A cached virtual environment for each tool: the packages that its page installs, and this checkout's wheel."""

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
# As in the Makefile, leave out a package whose build downloads files.
_NO_PARSER: Final = "dbt-core-experimental-parser; sys_platform == 'never'\n"
# Variables through which this checkout or the tests' environment would leak into the tools' environments.
_LEAKS: Final = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SPARK_HOME", "PYTEST_ADDOPTS")


def uv() -> str:
    """The path of `uv`, next to this Python or on the PATH."""
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
    """A virtual environment in a folder, in which commands run."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def packages(self) -> Path:
        """The site-packages folder."""
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def run(self, command: str, folder: Path, *, returns: int = 0, **environ: str) -> str:
        """Run a command of a page in a folder; returns its standard output.

        Raises:
            Failed: the command's exit code is not `returns`; with all of its output.
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
        """The rows of a project's query, which may use `ref()`, by `dbt show`."""
        shown = self.run(f"dbt --quiet show --limit -1 --output json --inline {shlex.quote(query)}", project)
        found: list[dict[str, object]] = json.loads(shown)["show"]
        return found

    def versions(self) -> dict[str, str]:
        """Package name -> installed version."""
        listed = subprocess.run(
            [uv(), "pip", "list", "--quiet", "--format", "json", "--python", str(self.folder)],
            capture_output=True,
            text=True,
            check=True,
        )
        return {package["name"]: package["version"] for package in json.loads(listed.stdout)}


def environment(name: str, install: str, wheel: Path, folder: Path | None = None) -> Environment:
    """Create an environment, or update the cached one with the wheel.

    Args:
        name: the environment's name in the cache.
        install: a page's `pip install …`; the wheel replaces `dbt-paimon` among its packages.
        wheel: dbt-paimon's wheel.
        folder: a folder outside the cache.
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
