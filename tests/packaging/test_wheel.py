"""The wheel, in an empty environment: `dbt init`, `dbt debug`, `dbt run` of a new project, as a user does them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# What would let the checkout, or the environment that runs this test, into the empty one.
LEAKS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SPARK_HOME", "DBT_PROFILES_DIR", "PYTEST_ADDOPTS")


def run(*command: str | Path, cwd: Path, answers: str = "", attempts: int = 1) -> str:
    """Run a command, its output returned; when it fails (`attempts` times), its output is the error."""
    environ = {key: value for key, value in os.environ.items() if key not in LEAKS}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
        input=answers,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode and attempts > 1:
        time.sleep(10)
        return run(*command, cwd=cwd, answers=answers, attempts=attempts - 1)
    if done.returncode:
        pytest.fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


@pytest.fixture(scope="module")
def uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    assert found, "uv is neither beside Python nor on the PATH: run `make venv`"
    return found


@pytest.fixture(scope="module")
def wheel(uv: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(uv, "build", "--wheel", "--out-dir", folder, cwd=ROOT, attempts=3)
    (built,) = folder.glob("*.whl")
    return built


def test_content(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    content = {name for name in names if ".dist-info/" not in name}
    sources = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert content == sources
    # dbt-core and dbt-adapters own these; ours would shadow them.
    assert not {"dbt/__init__.py", "dbt/adapters/__init__.py", "dbt/include/__init__.py"} & content
    assert "dbt/adapters/paimon/py.typed" in content
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_new_project(wheel: Path, uv: str, tmp_path: Path) -> None:
    pinned = tmp_path / "constraints.txt"
    export = (
        "export",
        "--frozen",
        "--no-dev",
        "--no-emit-project",
        "--no-hashes",
        "--no-annotate",
        "--no-header",
    )
    pinned.write_text(run(uv, *export, "--quiet", cwd=ROOT))
    environment = tmp_path / "environment"
    run(uv, "venv", "--python", sys.executable, environment, cwd=tmp_path)
    python = environment / "bin" / "python"
    run(uv, "pip", "install", "--python", python, "--constraints", pinned, wheel, cwd=tmp_path, attempts=3)

    dbt = environment / "bin" / "dbt"
    assert "- paimon: 0.1.0" in run(dbt, "--version", cwd=tmp_path)

    profiles = tmp_path / "profiles"
    warehouse = tmp_path / "warehouse"
    plugins = run(
        python, "-c", "from dbt.version import _get_adapter_plugin_names as n; print(*n())", cwd=tmp_path
    )
    answers = "\n".join([str(plugins.split().index("paimon") + 1), str(warehouse), "analytics", "2", ""])
    run(dbt, "init", "starter", "--profiles-dir", profiles, cwd=tmp_path, answers=answers)
    written = yaml.safe_load((profiles / "profiles.yml").read_text())["starter"]["outputs"]["dev"]
    assert written == {
        "type": "paimon",
        "method": "session",
        "warehouse": str(warehouse),
        "schema": "analytics",
        "threads": 2,
    }

    project = tmp_path / "starter"
    assert "All checks passed!" in run(dbt, "debug", "--profiles-dir", profiles, cwd=project)
    assert "PASS=2" in run(dbt, "run", "--profiles-dir", profiles, cwd=project)
    assert (warehouse / "analytics.db" / "my_first_dbt_model").is_dir()
