"""docs/how-to/on-a-cluster.md, with the page's profiles and commands: on a standalone cluster, and on YARN."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from functional.how_to.page import Page, run_alone
from integration.services import spark
from integration.services.yarn import yarn

# Slow, because each test starts a cluster, and each command a JVM.
pytestmark = pytest.mark.full

ORDERS = """
{{ config(materialized='incremental', primary_key='order_id') }}
select id as order_id from range(100)
"""
# Memory that a test machine can spare.
SMALL = {"spark.executor.memory": "512m", "spark.driver.memory": "1g"}


@pytest.fixture
def page(tmp_path: Path) -> Page:
    page = Page("on-a-cluster.md", tmp_path, {})
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "orders.sql").write_text(ORDERS)
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "shop", "profile": "lake"}))
    return page


@pytest.fixture
def rows(page: Page, spark_config: dict[str, Any]) -> Callable[[str], list[tuple[Any, ...]]]:
    """Function: the rows of a query, which runs outside the cluster."""

    def read(sql: str) -> list[tuple[Any, ...]]:
        lake = str(page.folder / "lake")
        cursor = open_handle(
            Runtime(PaimonCredentials(paimon_version="0.9.0", schema="any", warehouse=lake, spark_config=spark_config))
        ).cursor()
        cursor.execute(sql)
        return [tuple(row) for row in cursor.fetchall()]

    return read


def follow(page: Page, heading: str, settings: dict[str, Any], **environment: str) -> None:
    """Follow a section of the page, with the settings of this machine."""
    page.write(heading)
    file = page.folder / "profiles.yml"
    profiles = yaml.safe_load(file.read_text())
    (target,) = profiles["lake"]["outputs"].values()
    target |= {"paimon_version": "0.9.0", "warehouse": str(page.folder / "lake")}
    target["spark_config"] |= SMALL | settings
    file.write_text(yaml.safe_dump(profiles))
    for command in page.commands(heading):
        run_alone(page.folder, command, **environment)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with spark.standalone_cluster(tmp_path_factory.mktemp("standalone")) as url:
        yield url


def test_standalone(page: Page, rows: Callable[[str], list[tuple[Any, ...]]], master: str) -> None:
    follow(page, "A standalone cluster", {"spark.master": master})
    assert rows("select count(*) from paimon.shop.orders") == [(100,)]


def test_yarn(
    page: Page, rows: Callable[[str], list[tuple[Any, ...]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with yarn(tmp_path_factory.mktemp("yarn")) as cluster:
        follow(page, "YARN", {"spark.yarn.stagingDir": str(page.folder)}, HADOOP_CONF_DIR=str(cluster.conf))
        assert cluster.last_application()["Final-State"] == "SUCCEEDED"
    assert rows("select count(*) from paimon.shop.orders") == [(100,)]
