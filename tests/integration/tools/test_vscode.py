"""VS Code's dbt Power User, set up as in docs/tools/vscode.md. Only the extension's Python runs here, from npm."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from integration.services import maven
from integration.tools import pages
from integration.tools.environments import Environment

pytestmark = pytest.mark.full

PAGE = "vscode.md"
SCRIPT = Path(__file__).with_name("power_user.py")
PACKAGE = "@altimateai/dbt-integration@0.2.14"


@pytest.fixture(scope="module")
def extension() -> Path:
    """The folder with the extension's Python, downloaded once."""
    folder = maven.cache() / "tools" / PACKAGE.replace("/", "-")
    python = folder / "package" / "dist" / "altimate_python_packages"
    if not python.exists():
        assert shutil.which("npm"), "npm is needed to download the extension's Python"
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True)
        (archive,) = folder.glob("*.tgz")
        shutil.unpack_archive(archive, folder, filter="data")
    return python


def test_the_extensions_python(
    installed: Callable[[str, str], Environment], extension: Path, shop: Path, tmp_path: Path
) -> None:
    _, install = pages.commands(PAGE)
    environment = installed("dbt", install.replace(".venv/bin/", ""))
    pages.write(shop, PAGE)
    settings = json.loads((shop / ".vscode" / "settings.json").read_text())
    assert settings["dbt.dbtIntegration"] == "core"
    python = settings["dbt.dbtPythonPathOverride"].replace("${workspaceFolder}", str(shop))
    (shop / ".venv").symlink_to(environment.folder)
    profiles = yaml.safe_load((shop / "profiles.yml").read_text())
    outputs = profiles["shop"]["outputs"]
    outputs["again"] = {**outputs["dev"], "threads": 1}
    (shop / "profiles.yml").write_text(yaml.safe_dump(profiles))

    environment.run("dbt build", shop)
    told = environment.run(f"{python} {SCRIPT} {shop}", shop, PYTHONPATH=str(extension))
    answers = json.loads(told.splitlines()[-1])
    rows = [[1, "ada", "2026-11-01", 10], [2, "bob", "2026-11-01", 20], [3, "ada", "2026-11-02", 30]]
    assert sorted(answers["preview"]) == sorted(answers["after a switch"]) == rows
    assert answers["limited"] == rows[:1]
    assert answers["columns"] == ["customer", "amount"]
    assert answers["compiled"].split() == (
        "select order_id, amount from `paimon`.`shop`.`orders` where amount >= 20".split()
    )
