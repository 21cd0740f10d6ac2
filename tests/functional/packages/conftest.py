"""Stubs of well-known packages: the macros that dispatch to the adapter, without the packages' own code."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt


@pytest.fixture(scope="class")
def package_name() -> str:
    """The name of the package that a test class imitates."""
    raise NotImplementedError


@pytest.fixture(scope="class")
def package_macros() -> str:
    """The macros of the stub."""
    raise NotImplementedError


@pytest.fixture(scope="class", autouse=True)
def package(project_root: Any, package_name: str, package_macros: str) -> None:
    """Write the stub into the project's folder."""
    folder = project_root.join("packages", package_name)
    folder.join("macros").ensure_dir()
    folder.join("dbt_project.yml").write(f"name: {package_name}\nversion: '1.0'\nconfig-version: 2\n")
    folder.join("macros", "all.sql").write(package_macros)


@pytest.fixture(scope="class")
def packages(package_name: str) -> dict[str, Any]:
    """The content of packages.yml."""
    return {"packages": [{"local": f"packages/{package_name}"}]}


@pytest.fixture(scope="class")
def installed(project: Any) -> None:
    """Install the stub with `dbt deps`."""
    run_dbt(["deps"])
