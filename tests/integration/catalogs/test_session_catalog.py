"""`catalog: spark_catalog`: Paimon tables in Spark's own catalog, next to other formats (SparkGenericCatalog)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integration.catalogs.base import Reader
from own_process import OwnProcess, write_project

SCHEMA = "shared"
FILES = {
    "models/upserted.sql": """{{ config(materialized='incremental', primary_key='id') }}
select id, {{ var('step') }} as step from {{ source('others', 'landed') }}""",
    "models/swapped.sql": """{{ config(materialized='table', on_rebuild='drop_history', primary_key=['id'] if var('step') % 2 else ['id', 'step']) }}
select * from {{ ref('upserted') }}""",
    "models/seen.sql": "{{ config(materialized='view') }} select id from {{ ref('swapped') }}",
    "models/counted.sql": "{{ config(materialized='table') }} select count(*) as n from {{ ref('seen') }}",
    "models/taken.sql": "{{ config(materialized='view' if var('step') == 9 else 'table') }} select 1 as id",
    "models/turned.sql": "{{ config(materialized='view' if var('step') % 2 else 'table') }} select {{ var('step') }} as step",
    "models/sources.yml": """
sources:
  - name: others
    schema: others
    tables:
      - name: landed
        columns: [{name: id, data_tests: [not_null]}]
        config: {freshness: {warn_after: {count: 1, period: day}}}
  - name: own
    schema: shared
    tables: [{name: upserted, config: {freshness: {warn_after: {count: 1, period: day}}}}]
""",
    "snapshots/history.yml": """
snapshots:
  - name: history
    relation: ref('swapped')
    config: {unique_key: id, strategy: check, check_cols: [step]}
""",
    "seeds/planted.csv": "id,name\n1,one\n",
}


@pytest.fixture(scope="module")
def target(hive, spark_config: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "catalog": "spark_catalog",
        "schema": SCHEMA,
        "metastore": "hive",
        "uri": hive.uri,
        "warehouse": str(hive.warehouse),
        "threads": 2,
        "spark_config": spark_config,
    }


@pytest.fixture(scope="module")
def answers(target, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder: Path = tmp_path_factory.mktemp("shared")
    write_project(folder, target, FILES)
    return OwnProcess(
        folder,
        target,
        [
            {"sql": "create database spark_catalog.others"},
            {"sql": "create table spark_catalog.others.landed using parquet as select id from range(3)"},
            {"dbt": ["build", "--exclude", "taken", "--vars", "{step: 1}"]},
            {"dbt": ["build", "--exclude", "taken", "--vars", "{step: 2}"]},
            {"dbt": ["run", "--select", "turned", "--vars", "{step: 3}", "--full-refresh"]},
            {"sql": f"select step from spark_catalog.{SCHEMA}.turned"},
            {"dbt": ["run", "--select", "turned", "--vars", "{step: 4}"]},
            {"sql": f"select step from spark_catalog.{SCHEMA}.turned"},
            {"dbt": ["source", "freshness", "--vars", "{step: 2}"]},
            {"dbt": ["docs", "generate", "--vars", "{step: 2}"]},
            {"sql": f"create table spark_catalog.{SCHEMA}.taken using parquet as select 7 as id"},
            {"dbt": ["run", "--select", "taken", "--vars", "{step: 2}"]},
            {"sql": f"select * from spark_catalog.{SCHEMA}.taken"},
            {"dbt": ["run", "--select", "taken", "--vars", "{step: 9}", "--full-refresh"]},
            {"sql": f"select * from spark_catalog.{SCHEMA}.taken"},
            {"sql": f"select * from spark_catalog.{SCHEMA}.seen order by id"},
            {"sql": f"select n from spark_catalog.{SCHEMA}.counted"},
            {"sql": "select count(*) from spark_catalog.others.landed"},
            {"sql": f"show views in spark_catalog.{SCHEMA}"},
        ],
    ).answers()


def test_every_node_is_built(answers) -> None:
    nodes = {"upserted", "swapped", "seen", "counted", "turned", "history", "planted"}
    for build in answers[2:4]:
        assert {name for name, status in build.items() if status == "success"} == nodes
        assert set(build.values()) == {"success", "pass"}
    freshness = answers[8]
    assert freshness["upserted"] == "pass"
    assert "loaded_at_field" in freshness["landed"]


def test_a_view_becomes_a_table_and_back(answers) -> None:
    assert answers[4:8] == [{"turned": "success"}, [[3]], {"turned": "success"}, [[4]]]


def test_a_table_of_another_format_stays(answers) -> None:
    for refused, rows in (answers[11:13], answers[13:15]):
        (message,) = refused.values()
        assert f"`spark_catalog`.`{SCHEMA}`.`taken` exists and is not a Paimon table" in message
        assert rows == [[7]]


def test_rows(answers) -> None:
    seen, counted, landed, views = answers[-4:]
    assert (seen, counted, landed) == ([[0], [1], [2]], [[3]], [[3]])
    assert [row[1] for row in views] == ["seen"]


def test_a_paimon_catalog_lists_only_paimon_tables(answers, target) -> None:
    """A Paimon catalog on the same metastore, in another process, finds the Paimon tables and no others."""
    reader = Reader(target | {"catalog": "paimon"})
    assert reader.tables() == {"upserted", "swapped", "counted", "turned", "history", "planted"}
    assert reader.state("swapped") == [(number, 2) for number in range(3)]
    assert reader.primary_key("swapped") == '["id","step"]'
    assert reader.state("history") == [(number, step, step == 2) for number in range(3) for step in (1, 2)]
    assert reader.rows("select count(*) from {schema}.`upserted$snapshots`") == [(2,)]
    assert reader.rows("show tables in paimon.others") == []
