"""MetricFlow queries a project's metrics, with the page's script and with its patch: docs/tools/metricflow.md."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.tools import pages
from integration.tools.environments import Environment
from integration.tools.patches import patched

pytestmark = pytest.mark.full

PAGE = "metricflow.md"
INSTALL, BUILD, QUERY = pages.commands(PAGE)
REVENUE = [("2026-11-01", "ada", 10), ("2026-11-01", "bob", 20), ("2026-11-02", "ada", 30)]


def revenue(environment: Environment, project: Path, query: str) -> list[tuple[str, str, int]]:
    """The rows of an `mf` query."""
    environment.run(f"{query} --csv answer.csv", project)
    with (project / "answer.csv").open() as answer:
        return sorted(
            (row["metric_time__day"][:10], row["order_id__customer"], int(float(row["revenue"])))
            for row in csv.DictReader(answer)
        )


def test_query(
    installed: Callable[[str, str], Environment],
    wheel: Path,
    shop: Path,
    tmp_path: Path,
    ran_with: Callable[..., None],
) -> None:
    environment = installed("metricflow", INSTALL)
    pages.write(shop, PAGE)
    environment.run(BUILD, shop)
    assert revenue(environment, shop, QUERY) == REVENUE
    ran_with("metricflow", environment, "dbt-metricflow", "metricflow", "dbt-core")

    # First the previous dbt version with the script, then the patch without the script.
    older = installed("metricflow-dbt-1.11", f"{INSTALL} 'dbt-core<1.12'")
    older.run("dbt parse --no-partial-parse", shop)
    assert older.versions()["dbt-core"].startswith("1.11.")
    assert revenue(older, shop, QUERY) == REVENUE
    upstream = patched(PAGE, INSTALL, wheel, tmp_path / "patched")
    upstream.run("dbt parse --no-partial-parse", shop)
    assert revenue(upstream, shop, QUERY.replace("python mf.py", "mf")) == REVENUE
