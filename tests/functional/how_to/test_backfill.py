"""docs/how-to/backfill-a-year.md, step by step."""

from __future__ import annotations

import json

import pytest

SALES = """
select cast(id as int) as sale_id, timestamp '2022-12-15 12:00:00' + make_interval(0, cast(id as int)) as sold_at, 10 as amount
from range(15)
"""
# Each year's number of rows and total revenue.
YEARS = "select substr(month, 1, 4), count(*), sum(revenue) from revenue group by 1"
MODEL, YEAR, AT_ONCE = "A model in batches", "The year", "Without batches"
NIGHTLY = "If the nightly run goes on"


@pytest.mark.full
def test_the_page(follow, read):
    page = follow("backfill-a-year.md")
    (page.folder / "models").mkdir()
    (page.folder / "models" / "sales.sql").write_text(
        SALES.replace("'2022-12-15", "'2023-01-15").replace("range(15)", "range(14)")
    )
    page.write(MODEL)
    # All the data: 12 months of 2023, 2 of 2024.
    page.run("dbt run --event-time-start 2023-01-01 --event-time-end 2024-04-01")
    assert read(page, YEARS) == [("2023", 12, 120), ("2024", 2, 20)]
    snapshots = read(page, "select max(snapshot_id) from `revenue$snapshots`")[0][0]

    for command in page.commands("Before"):
        page.run(command)
    (year,) = page.commands(YEAR)
    page.run(year)
    assert read(page, YEARS) == [("2023", 12, 240), ("2024", 2, 20)]
    # One commit per month.
    assert read(page, "select max(snapshot_id) from `revenue$snapshots`")[0][0] == snapshots + 12
    before = "select sum(revenue) from revenue version as of 'before_2023'"
    assert read(page, before) == [(140,)]

    diff, compact, forget = page.commands("Afterwards")
    (found,) = map(json.loads, page.run(f"{diff} --output json").splitlines())
    assert (found["changed"], found["added"], found["gone"]) == (12, 0, 0)
    page.run("dbt run-operation rollback_to --args '{relation: revenue, version: before_2023}'")
    assert read(page, YEARS) == [("2023", 12, 120), ("2024", 2, 20)]
    page.run(year)
    (undo,) = page.blocks("sql", NIGHTLY)
    read(page, undo)
    assert read(page, YEARS) == [("2023", 12, 230), ("2024", 2, 20)]
    page.run(year)
    page.run(compact)
    page.run(forget)
    assert read(page, YEARS) == [("2023", 12, 240), ("2024", 2, 20)]
    assert read(page, "select tag_name from `revenue$tags`") == []

    page.write(AT_ONCE)
    page.run("dbt run --select revenue_at_once")
    (year,) = page.commands(AT_ONCE)
    page.run(year)
    assert read(page, YEARS.replace("from revenue", "from revenue_at_once")) == [
        ("2023", 12, 240),
        ("2024", 2, 20),
    ]
    assert read(page, "select max(snapshot_id) from `revenue_at_once$snapshots`") == [(2,)]
