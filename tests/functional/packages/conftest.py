"""Packages as others write them: stubs, each with the package's dispatching macros and nothing of its code."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt


@pytest.fixture(scope="class")
def package_name() -> str:
    """The package that a test class stands in for."""
    raise NotImplementedError


@pytest.fixture(scope="class")
def package_macros() -> str:
    """Its macros."""
    raise NotImplementedError


@pytest.fixture(scope="class", autouse=True)
def package(project_root: Any, package_name: str, package_macros: str) -> None:
    """The package's files, below the project."""
    folder = project_root.join("packages", package_name)
    folder.join("macros").ensure_dir()
    folder.join("dbt_project.yml").write(f"name: {package_name}\nversion: '1.0'\nconfig-version: 2\n")
    folder.join("macros", "all.sql").write(package_macros)


@pytest.fixture(scope="class")
def packages(package_name: str) -> dict[str, Any]:
    """dbt's packages.yml."""
    return {"packages": [{"local": f"packages/{package_name}"}]}


@pytest.fixture(scope="class")
def installed(project: Any) -> None:
    """The package, as `dbt deps` installs it."""
    run_dbt(["deps"])
