"""Airflow runs a project through Cosmos: docs/tools/airflow.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from integration.tools import pages
from integration.tools.environments import Environment
from integration.tools.shop import assert_built

pytestmark = pytest.mark.full
Installed = Callable[[str, str], Environment]


@pytest.mark.parametrize("mode", ["LOCAL", "WATCHER"])
def test_tasks(mode: str, installed: Installed, shop: Path, tmp_path: Path, ran_with: Callable[..., None]) -> None:
    of_airflow, of_dbt, parse, test = pages.commands("airflow.md")
    airflow = installed("airflow", of_airflow)
    dbt = installed("dbt", of_dbt.replace("/opt/dbt/bin/", ""))
    home = tmp_path / "airflow"
    places = {
        "/opt/shop": str(shop),
        "/opt/dbt": str(dbt.folder),
        "ExecutionMode.LOCAL": f"ExecutionMode.{mode}",
    }
    pages.write(home, "airflow.md", places)
    dbt.run(parse.replace("/opt/dbt/bin/", "").replace("/opt/shop", str(shop)), shop)
    environ = {"AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "false", "DO_NOT_TRACK": "1"}
    # The import of the DAG is slow on a busy machine.
    environ |= {"AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "300"}
    airflow.run("airflow db migrate", home, **environ)
    airflow.run(test, home, **environ)
    assert_built(dbt, shop)
    ran_with("airflow", airflow, "apache-airflow", "astronomer-cosmos")
