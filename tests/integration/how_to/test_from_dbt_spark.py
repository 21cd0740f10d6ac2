"""docs/how-to/from-dbt-spark.md, step by step, from tables that dbt-spark writes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from functional.how_to.page import Page
from integration.services.metastore import Metastore

# A JVM for each step, and jars of two formats to fetch.
pytestmark = pytest.mark.full

MESSAGES = """
select order_id, status, cast(amount as decimal(10, 2)) as amount, timestamp_micros(at) as updated_at from values
  (1, 'new', 10.00, 100000001), (2, 'new', 20.50, 200000000)
  {% if var('day', 1) == 2 %}, (2, 'paid', 20.50, 900000000), (3, 'new', 30.00, 950000000){% endif %}
  as v (order_id, status, amount, at)
{% if var('day', 1) == 2 %}where at >= 900000000{% endif %}
"""
OLD = {
    "models/order_messages.sql": "{{ config(materialized='view') }}" + MESSAGES,
    "models/orders.sql": """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='order_id', file_format=target.name) }}
select * from {{ ref('order_messages') }}
""",
    "snapshots/order_history.sql": """
{% snapshot order_history %}
{{ config(target_schema=target.schema, file_format=target.name, unique_key='order_id', strategy='timestamp',
  updated_at='updated_at') }}
select * from {{ ref('orders') }}
{% endsnapshot %}
""",
}
PAID = [[1, "new", "10.00"], [2, "paid", "20.50"], [3, "new", "30.00"]]


def _run(folder: Path, command: str) -> str:
    program, *words = shlex.split(command)
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *words, "--profiles-dir", "."],
        cwd=folder,
        env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def _rows(folder: Path, query: str) -> list[list[Any]]:
    """Of `dbt show`, by name sorted."""
    printed = _run(folder, f'dbt --quiet show --output json --limit 20 --inline "{query}"')
    rows = json.loads(printed[printed.index("{") :])["show"]
    return sorted([list(row.values()) for row in rows], key=str)


class TestFromDbtSpark:
    @pytest.fixture(params=["delta", "iceberg"])
    def kind(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def page(self, kind: str, hive: Metastore, tmp_path: Path) -> Page:
        """The page, and its profile with this metastore."""
        page = Page("from-dbt-spark.md", tmp_path / "new", {})
        profile, iceberg = (yaml.safe_load(text) for text in page.blocks("yaml", "The profile"))
        target = profile["lake"]["outputs"]["dev"]
        if kind == "iceberg":
            target |= iceberg
        target["spark_config"]["spark.hadoop.hive.metastore.uris"] = hive.uri
        target |= {"warehouse": str(tmp_path / "lake"), "schema": f"shop_{kind}", "threads": 1}
        page.folder.mkdir()
        (page.folder / "profiles.yml").write_text(yaml.safe_dump(profile))
        (page.folder / "dbt_project.yml").write_text(yaml.safe_dump({"name": "shop", "profile": "lake"}))
        page.target.update(target)
        return page

    @pytest.fixture
    def old(self, kind: str, hive: Metastore, page: Page, tmp_path: Path) -> Path:
        """The old project, run once: the same settings of Spark's, in dbt-spark's profile."""
        folder = tmp_path / "old"
        settings = page.target["spark_config"] | {
            "spark.jars.packages": page.target["packages"][0],
            "spark.sql.warehouse.dir": str(hive.warehouse),
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
        }
        target = {"type": "spark", "method": "session", "host": "none", "schema": f"shop_{kind}"}
        profile = {"shop": {"target": kind, "outputs": {kind: target | {"server_side_parameters": settings}}}}
        project = yaml.safe_dump({"name": "shop", "profile": "shop"})
        for name, text in (OLD | {"profiles.yml": yaml.safe_dump(profile), "dbt_project.yml": project}).items():
            (folder / name).parent.mkdir(exist_ok=True, parents=True)
            (folder / name).write_text(text)
        _run(folder, "dbt build")
        return folder

    def test_the_page(self, kind: str, page: Page, old: Path) -> None:
        page.write("The rows")
        (page.folder / "models" / "order_messages.sql").write_text(OLD["models/order_messages.sql"])
        sources = (page.folder / "models" / "old.yml").read_text()
        (page.folder / "models" / "old.yml").write_text(
            sources.replace("schema: shop\n", f"schema: shop_{kind}\n")
        )
        _run(page.folder, "dbt debug")
        (take_over,) = page.commands("The rows")
        _run(page.folder, take_over)
        assert _rows(page.folder, "select order_id, status, amount from {{ ref('orders') }}") == [
            [1, "new", 10.0],
            [2, "new", 20.5],
        ]

        # The old project goes on, and its rows are taken over again. dbt-spark 1.11 does not know its own Iceberg table
        # in a second run here ("in another format").
        if kind == "delta":
            _run(old, "dbt build --vars 'day: 2'")
        _run(page.folder, take_over)
        for compare in page.commands("Compare"):
            query = shlex.split(compare)[-1]
            assert _rows(page.folder, query) == []

        # Switched: the new project takes the messages, and goes on with the history.
        _run(page.folder, "dbt build --vars 'day: 2'")
        orders = "select order_id, status, cast(amount as string) from {{ ref('orders') }}"
        assert _rows(page.folder, orders) == PAID
        history = "select order_id, status, dbt_valid_to is null from {{ ref('order_history') }}"
        assert _rows(page.folder, history) == [
            [1, "new", True],
            [2, "new", False],
            [2, "paid", True],
            [3, "new", True],
        ]
        assert _rows(page.folder, "select count(distinct dbt_scd_id) from {{ ref('order_history') }}") == [[4]]
