"""Tools around dbt, as docs/tools describes them; `--results` writes the tested versions to docs/tools/README.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.tools import environments, pages
from integration.tools.environments import Environment

_VERSIONS = pytest.StashKey[dict[str, str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_VERSIONS] = {}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    return environments.build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path) -> Callable[[str, str], Environment]:
    """Function: the environment of a name, with the packages of a page's `pip install`."""
    made: dict[str, Environment] = {}

    def make(name: str, install: str) -> Environment:
        if name not in made:
            made[name] = environments.environment(name, install, wheel)
        return made[name]

    return make


@pytest.fixture
def shop(tmp_path: Path, spark_config: dict[str, Any]) -> Path:
    """The project of docs/tools/README.md, with the test's own warehouse and Spark settings."""
    folder = tmp_path / "shop"
    pages.write(folder, "README.md")
    profiles = yaml.safe_load((folder / "profiles.yml").read_text())
    small = {key: value for key, value in spark_config.items() if key != "spark.jars.packages"}
    profiles["shop"]["outputs"]["dev"] |= {"warehouse": str(tmp_path / "warehouse"), "spark_config": small}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
    return folder


@pytest.fixture
def ran_with(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Function: record for a page which versions its tool ran with."""

    def note(page: str, environment: Environment, *packages: str) -> None:
        versions = environment.versions()
        request.config.stash[_VERSIONS][page] = ", ".join(f"{name} {versions[name]}" for name in packages)

    return note


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not session.config.getoption("--results"):
        return
    index = pages.FOLDER / "README.md"
    text = index.read_text()
    for page, versions in session.config.stash[_VERSIONS].items():
        row = re.compile(rf"^(\| \[[^\]]+\]\({page}\.md\)[^|]*\|[^|]*\|)[^|]*\|$", re.MULTILINE)
        text = row.sub(lambda found, versions=versions: f"{found[1]} {versions} |", text)
    index.write_text(text)
