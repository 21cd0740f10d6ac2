"""The commands of docs/how-to/spark-sql-and-notebooks.md, on tables and views that dbt built."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

MODELS = {
    "orders.sql": "{{ config(materialized='table', primary_key='id') }}\n"
    "select id, if(id > 2, 'open', 'paid') as status from range(1, 6 + {{ var('more', 0) }})",
    "open_orders.sql": "{{ config(materialized='view') }} select id from {{ ref('orders') }} where status = 'open'",
    "few_open_orders.sql": "{{ config(materialized='view') }} select id from {{ ref('open_orders') }} where id > 4",
}


@pytest.fixture
def page(follow):
    """The page, with its project built."""
    page = follow("spark-sql-and-notebooks.md")
    (page.folder / "models").mkdir()
    for name, sql in MODELS.items():
        (page.folder / "models" / name).write_text(sql)
    page.run("dbt run")
    return page


def adapted(page, text):
    """Text from the page, with this test's schema, warehouse and folder."""
    return (
        text.replace("shop", page.target["schema"])
        .replace("/data/lake", page.target["warehouse"])
        .replace('project_dir=".", profiles_dir="."', f'project_dir="{page.folder}", profiles_dir="{page.folder}"')
    )


def test_python(page, capsys):
    names = {}
    for block in page.blocks("python", "PySpark and notebooks") + page.blocks("python", "Views"):
        exec(adapted(page, block), names)
    printed = capsys.readouterr().out
    assert "|  open|     3|" in printed and "|  paid|     2|" in printed
    spark, home = names["spark"], f"spark_catalog.{page.target['schema']}"
    assert sorted(row.id for row in spark.table(f"{home}.open_orders").collect()) == [3, 4, 5]
    assert [row.id for row in spark.table(f"{home}.few_open_orders").collect()] == [5]


def test_a_table_as_it_was(page):
    page.run("dbt run --select orders --vars '{more: 1}'")
    opened, block = (
        page.blocks("python", "PySpark and notebooks")[0],
        page.blocks("python", "A table as it was")[0],
    )
    names = {}
    exec(adapted(page, opened) + adapted(page, block), names)
    assert names["first"].count() == 5
    # Paimon ignores an option of another format.
    exec(adapted(page, block.replace("scan.snapshot-id", "snapshot-id")), names)
    assert names["first"].count() == 6


def test_spark_sql(page):
    """Uses the worker's connector instead of a download."""
    program, *words = shlex.split(adapted(page, page.blocks("sh", "spark-sql")[0]).replace("\\\n", " "))
    at = words.index("--packages")
    conf = SparkSession.builder.getOrCreate().sparkContext.getConf()
    jars = conf.get("spark.jars") or conf.get("spark.driver.extraClassPath", "").replace(":", ",")
    words[at : at + 2] = ["--jars", jars]
    queries = adapted(page, "".join(page.blocks("sql", "spark-sql") + page.blocks("sql", "Views")))
    ended = subprocess.run(
        [Path(sys.executable).with_name(program), *words, "-e", queries],
        cwd=page.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    lines = ended.stdout.splitlines()
    assert {"open\t3", "paid\t2", "1\tAPPEND"} <= set(lines), lines
    assert any("few_open_orders" in line for line in lines)
