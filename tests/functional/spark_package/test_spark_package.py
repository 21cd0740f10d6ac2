"""integrations/paimon_spark_package with dbt-spark's adapter and without dbt-paimon: the behavior that its README describes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.launch.packages import EXCLUDES
from dbt.adapters.paimon.spark.runtime import Runtime

PACKAGE = Path(__file__).parents[3] / "integrations" / "paimon_spark_package"
README = (PACKAGE / "README.md").read_text("utf-8")
FAILS = "case when id = {{ var('fails', 0) }} then raise_error('boom') else 'new' end"
# The variable `key` sets the primary key.
ORDERS = (
    """
{{ config(materialized='paimon_incremental', post_hook='{{ paimon_spark.paimon_compact(this) }}',
  meta={'paimon': {'primary_key': var('key', 'id').split(), 'options': {'bucket': 1}}}) }}
select id, """
    + FAILS
    + """ as status from values (1), (2) as v (id)
{% if paimon_spark.is_paimon_incremental() %} where id = 2 union all select 3, 'paid'{% endif %}
"""
)
FLIGHTS = """
{{ config(materialized='paimon_incremental', incremental_strategy='partial_update',
  meta={'paimon': {'primary_key': 'id', 'options': {'bucket': 1, 'merge-engine': 'partial-update'}}}) }}
{% if paimon_spark.is_paimon_incremental() %}select 1 as id, '10:30' as arrived
{% else %}select 1 as id, '09:00' as departed, cast(null as string) as arrived{% endif %}
"""
DAYS = """
{{ config(materialized='paimon_incremental', incremental_strategy='insert_overwrite',
  meta={'paimon': {'partition_by': 'day'}}) }}
{% if paimon_spark.is_paimon_incremental() %}select 20 as n, 'b' as day
{% else %}select 1 as n, 'a' as day union all select 2, 'b'{% endif %}
"""
# The second run lacks one partition, the third has one more column.
TOTALS = """
{{ config(meta={'paimon': {'partition_by': ['day']}}) }}
select n, day {{ var('more', '') }} from {{ ref('days') }} where n <> {{ var('without', 0) }}
"""
FIRST_ORDERS = "select id from {{ paimon_spark.paimon_at(ref('orders'), snapshot=1) }}"
MODELS = {"orders": ORDERS, "flights": FLIGHTS, "days": DAYS, "totals": TOTALS, "first_orders": FIRST_ORDERS}

_ALL = {"dbt": ["run"]}
_SHOP = {"sql": "show tables in shop"}
# Step name -> step. Tests look up the answers by these names.
STEPS: dict[str, dict[str, Any]] = {
    "first run fails": {"dbt": ["run", "--select", "orders", "--vars", "fails: 2"]},
    "after a first run that failed": _SHOP,
    "first run": _ALL,
    "first orders": {"sql": "select * from shop.orders"},
    "second run": {"dbt": ["run", "--vars", "without: 1"]},
    "orders": {"sql": "select * from shop.orders"},
    "flights": {"sql": "select * from shop.flights"},
    "days": {"sql": "select * from shop.days"},
    "totals": {"sql": "select * from shop.totals"},
    "time travel": {"sql": "select * from shop.first_orders"},
    "commits of orders": {"sql": "select snapshot_id, commit_kind from shop.`orders$snapshots`"},
    "a column more": {"dbt": ["run", "--select", "totals", "--vars", "more: ', 7 as m'"]},
    "totals with a column": {"sql": "select * from shop.totals"},
    "commits of totals": {"sql": "select snapshot_id, commit_kind from shop.`totals$snapshots`"},
    "refused": {"dbt": ["run", "--target", "static", "--select", "orders days", "--vars", "key: id status"]},
    "days after a refusal": {"sql": "select * from shop.days"},
    "rebuild fails": {"dbt": ["run", "-f", "--select", "orders", "--vars", "{key: id status, fails: 2}"]},
    "orders after both": {"sql": "select * from shop.orders"},
    "rebuild": {"dbt": ["run", "-f", "--select", "orders", "--vars", "key: id status"]},
    "rebuilt orders": {"sql": "select * from shop.orders"},
    # The state after a run that was killed between the two renames.
    "killed": {"sql": "alter table shop.orders rename to shop.orders__dbt_old"},
    "run after a kill": {"dbt": ["run", "--select", "orders", "--vars", "key: id status"]},
    "orders after a kill": {"sql": "select * from shop.orders"},
    "tables": _SHOP,
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> dict[str, Any]:
    """Step name -> answer. One process with the README's profile runs all steps."""
    folder = tmp_path_factory.mktemp("spark_package")
    _write(folder, spark_config)
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("steps.py")],
        input=json.dumps([{"dbt": ["deps"]}, *STEPS.values()]),
        cwd=folder,
        env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "0"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    _, *found = json.loads(done.stdout.splitlines()[-1])
    return dict(zip([*STEPS, "dbt-paimon is loaded"], found, strict=True))


def _write(folder: Path, spark_config: dict[str, Any]) -> None:
    """Write the project, and the README's profile with the jars of this machine."""
    block = next(text for text in README.split("```") if text.startswith("yaml\n# profiles.yml"))
    profile = yaml.safe_load(block.removeprefix("yaml\n"))
    outputs = profile["shop"]["outputs"]
    jars = Runtime(PaimonCredentials(schema="shop", paimon_version=DEFAULT_PAIMON_VERSION)).jars
    readme = outputs["dev"]["server_side_parameters"]
    readme["spark.jars"] = ",".join(jars.jars)
    if jars.packages:
        readme |= {"spark.jars.packages": ",".join(jars.packages), "spark.jars.excludes": ",".join(EXCLUDES)}
    readme["spark.sql.catalog.paimon.warehouse"] = str(folder / "warehouse")
    small = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g"}
    # dbt-spark accepts only strings.
    readme |= {key: str(value) for key, value in spark_config.items()} | small
    static = readme | {"spark.sql.sources.partitionOverwriteMode": "static"}
    outputs["static"] = outputs["dev"] | {"server_side_parameters": static}
    files = {
        "profiles.yml": yaml.safe_dump(profile),
        "packages.yml": yaml.safe_dump({"packages": [{"local": str(PACKAGE)}]}),
        "dbt_project.yml": yaml.safe_dump(
            {"name": "shop", "profile": "shop", "models": {"shop": {"+materialized": "paimon_table"}}}
        ),
    } | {f"models/{name}.sql": sql for name, sql in MODELS.items()}
    (folder / "models").mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)


def test_dbt_paimon_is_not_loaded(answers):
    assert not answers["dbt-paimon is loaded"]


def test_first_run(answers):
    assert "boom" in answers["first run fails"][0]
    assert ["shop", "orders", False] not in answers["after a first run that failed"]
    assert answers["first run"] == []
    assert answers["first orders"] == [[1, "new"], [2, "new"]]


def test_second_run(answers):
    assert answers["second run"] == []
    assert answers["orders"] == [[1, "new"], [2, "new"], [3, "paid"]]
    assert answers["flights"] == [[1, "09:00", "10:30"]]
    assert answers["days"] == [[1, "a"], [20, "b"]]
    assert answers["totals"] == [[20, "b"]]
    assert answers["time travel"] == [[1], [2]]
    assert [kind for _, kind in answers["commits of orders"]] == ["APPEND", "COMPACT"] * 2


def test_adding_a_column_keeps_the_history(answers):
    assert answers["a column more"] == []
    assert answers["totals with a column"] == [[1, "a", 7], [20, "b", 7]]
    assert [kind for _, kind in answers["commits of totals"]] == ["APPEND", "OVERWRITE", "OVERWRITE"]


def test_refused_runs_write_nothing(answers):
    refusals = "".join(answers["refused"])
    assert "cannot be changed: primary-key" in refusals
    assert "partitionOverwriteMode=dynamic" in refusals
    assert answers["days after a refusal"] == answers["days"]


def test_a_rebuild_swaps_tables_only_when_complete(answers):
    assert "boom" in answers["rebuild fails"][0]
    assert answers["orders after both"] == answers["orders"]
    assert answers["rebuild"] == []
    assert answers["rebuilt orders"] == answers["first orders"]
    assert answers["run after a kill"] == []
    assert answers["orders after a kill"] == answers["orders"]
    assert [name for _, name, _ in answers["tables"]] == ["days", "first_orders", "flights", "orders", "totals"]
