"""pre-commit checks a project with dbt-checkpoint's hooks: docs/tools/pre-commit.md.

The hooks are in a repository on GitHub. Where GitHub is out of reach, set `DBT_CHECKPOINT` to the path of a clone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from integration.services import maven
from integration.tools import pages
from integration.tools.environments import Environment

pytestmark = pytest.mark.full
PAGE = "pre-commit.md"


@pytest.fixture
def environ() -> dict[str, str]:
    kept = {"PRE_COMMIT_HOME": str(maven.cache() / "tools" / "pre-commit-hooks")}
    if clone := os.environ.get("DBT_CHECKPOINT"):
        (hooks,) = yaml.safe_load(pages.files(PAGE)[".pre-commit-config.yaml"])["repos"]
        kept |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{clone}.insteadOf",
            "GIT_CONFIG_VALUE_0": hooks["repo"],
        }
    return kept


def test_hooks(
    installed: Callable[[str, str], Environment],
    shop: Path,
    environ: dict[str, str],
    ran_with: Callable[..., None],
) -> None:
    install, run = pages.commands(PAGE)
    environment = installed("pre-commit", install)
    pages.write(shop, PAGE)
    (shop / ".gitignore").write_text("logs/\ntarget/\n")
    environment.run("git init --quiet && git add --all", shop)
    environment.run(run, shop, **environ)

    # The hooks find each mistake.
    model = shop / "models" / "revenue.sql"
    right = model.read_text()
    for wrong in (
        right.replace("group by customer", "group by customer;"),
        right.replace("ref('orders')", "ref('no')"),
    ):
        model.write_text(wrong)
        environment.run(run, shop, returns=1, **environ)
    model.write_text(right)
    properties = shop / "models" / "shop.yml"
    properties.write_text(properties.read_text().replace("unique, ", ""))
    environment.run(run, shop, returns=1, **environ)
    ran_with("pre-commit", environment, "pre-commit", "dbt-core")
