"""Tools around dbt, each as its page in docs/tools has it; writes into docs/tools/README.md with what it ran (`--results`)."""

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
    """This checkout, as users get it."""
    return environments.build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path) -> Callable[[str, str], Environment]:
    """An environment by its name, with what a `pip install` of a page puts there."""
    made: dict[str, Environment] = {}

    def make(name: str, install: str) -> Environment:
        if name not in made:
            made[name] = environments.environment(name, install, wheel)
        return made[name]

    return make


@pytest.fixture
def shop(tmp_path: Path, spark_config: dict[str, Any]) -> Path:
    """The project of docs/tools/README.md, with a warehouse of the test's own, on a Spark for a test machine."""
    folder = tmp_path / "shop"
    pages.write(folder, "README.md")
    profiles = yaml.safe_load((folder / "profiles.yml").read_text())
    small = {key: value for key, value in spark_config.items() if key != "spark.jars.packages"}
    profiles["shop"]["outputs"]["dev"] |= {"warehouse": str(tmp_path / "warehouse"), "spark_config": small}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
    return folder


@pytest.fixture
def ran_with(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Tells the page which versions a tool ran with: `ran_with('dagster', environment, 'dagster-dbt')`."""

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
