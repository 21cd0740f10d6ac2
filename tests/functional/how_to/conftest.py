"""A dbt project for each page, on the worker's Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session
from functional.how_to.page import Page
from own_process import credentials_of


@pytest.fixture(scope="class")
def follow(tmp_path_factory: pytest.TempPathFactory, dbt_profile_target: dict[str, Any]) -> Callable[..., Page]:
    """Function: a page in a new folder, with one or more projects and their profiles; each page has its own schema."""

    def begun(name: str, *projects: str) -> Page:
        folder: Path = tmp_path_factory.mktemp("how_to")
        target = dbt_profile_target | {"schema": name.removesuffix(".md").replace("-", "_")}
        profiles = {"lake": {"target": "dev", "outputs": {"dev": target}}}
        for project in projects or (".",):
            (folder / project).mkdir(parents=True, exist_ok=True)
            (folder / project / "profiles.yml").write_text(yaml.safe_dump(profiles))
            named = {
                "name": "lake" if project == "." else Path(project).name,
                "profile": "lake",
                "flags": {"send_anonymous_usage_stats": False},
            }
            (folder / project / "dbt_project.yml").write_text(yaml.safe_dump(named))
        return Page(name, folder, target)

    return begun


@pytest.fixture
def read() -> Callable[[Page, str], list[tuple[Any, ...]]]:
    """Function: the sorted rows of a query in a page's schema."""

    def rows(page: Page, query: str) -> list[tuple[Any, ...]]:
        session = open_session(Runtime(credentials_of(page.target))).session
        session.sql(f"use paimon.{page.target['schema']}")
        return sorted(tuple(row) for row in session.sql(query).collect())

    return rows
