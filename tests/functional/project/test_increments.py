"""N increments give the same rows as one full refresh, in every table that is not a snapshot."""

from __future__ import annotations

import json
from datetime import date

import land_flights
import pytest

pytestmark = pytest.mark.full

# The second step ends a month.
STEPS = ("2013-01-09", "2013-01-31", "2013-02-03")


@pytest.fixture(scope="module")
def stepped(new_lakehouse):
    lakehouse = new_lakehouse("stepped")
    ids = []
    for day in STEPS:
        lakehouse.dbt("build", "--exclude-resource-type", "test", "unit_test", "--vars", f"known_until: {day}")
        ids.append(lakehouse.snapshot_ids())
    return lakehouse, ids


def incremental_models(lakehouse):
    manifest = json.loads((lakehouse.folder / "target" / "manifest.json").read_text())
    return {
        f"{node['schema']}.{node['alias']}"
        for node in manifest["nodes"].values()
        if node["config"].get("materialized") in ("incremental", "materialized_view")
    }


def test_each_step_was_an_increment(stepped):
    lakehouse, ids = stepped
    for table in incremental_models(lakehouse):
        assert ids[0][table] < ids[1][table] < ids[2][table], table


def test_the_books_of_a_month_stay_closed(stepped):
    """The tag at the month's end does not have arrivals that were reported later."""
    lakehouse, _ = stepped
    told = [
        (day, message)
        for flight in land_flights.read_flights()
        if flight["month"] == "1"
        for day, message in land_flights.messages(flight)
        if message["status"] == "arrived" and day <= date.fromisoformat(STEPS[-1])
    ]
    closed = [message for day, message in told if day <= date(2013, 1, 31)]
    assert len(closed) < len(told)
    delays = [sum(message["arr_delay"] for message in part) for part in (closed, [m for _, m in told])]
    found = lakehouse.rows("select * from paimon.flights_marts.mart_month_end")
    assert found == [("2013-01", len(closed), len(told), *delays)]


def test_increments_equal_full_refresh(stepped):
    lakehouse, _ = stepped
    got = lakehouse.fingerprints()
    lakehouse.dbt("run", "--full-refresh", "--vars", f"known_until: {STEPS[-1]}")
    expected = lakehouse.fingerprints()
    incremental = incremental_models(lakehouse)
    assert len(incremental) >= 10
    for table in incremental:
        assert expected[table][0] > 0, table
    # All other tables are equal too, except snapshots (which hold times of runs) and `__dbt_changes` tables (which hold
    # positions).
    differing = {
        name
        for name in expected
        if "snapshot" not in name and not name.endswith("__dbt_changes") and got.get(name) != expected[name]
    }
    assert differing == set()
    assert not [name for name in expected if name.endswith(("__dbt_tmp", "__dbt_backup"))]


def test_a_build_without_news_changes_no_row(stepped):
    lakehouse, _ = stepped
    before = lakehouse.fingerprints()
    # Data tests would only read the same rows again.
    lakehouse.dbt("build", "--exclude-resource-type", "test", "unit_test", "--vars", f"known_until: {STEPS[-1]}")
    after = lakehouse.fingerprints()
    assert set(after) == set(before)
    # Only a position may change, because a compaction has created a newer table snapshot.
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= {"flights_intermediate.int_plane_miles__dbt_changes"}


def test_a_correction_on_a_branch(stepped):
    """As in docs/lakehouse.md: readers see the correction once it is published, and the next increment keeps it."""
    lakehouse, _ = stepped
    table = "paimon.flights_intermediate.int_weather_hourly"
    wind = "select sum(wind_speed_mph) from {} where origin = 'LGA' and observed_on = date '2013-01-05'"
    rest = "select sum(wind_speed_mph), count(*) from {} where origin <> 'LGA' or observed_on <> date '2013-01-05'"
    branch = f"{table.rpartition('.')[0]}.`int_weather_hourly$branch_correction`"
    ((before,),), others = lakehouse.rows(wind.format(table)), lakehouse.rows(rest.format(table))
    newest = lakehouse.snapshot_ids()["flights_intermediate.int_weather_hourly"]

    def operation(name, **arguments):
        lakehouse.dbt("run-operation", name, "--args", json.dumps(arguments))

    operation("create_branch", relation="int_weather_hourly", branch="correction", snapshot=newest)
    operation("correct_wind", origin="LGA", first_day="2013-01-05", last_day="2013-01-05", factor=2)
    assert lakehouse.rows(wind.format(table)) == [(before,)]
    assert lakehouse.rows(wind.format(branch)) == [(pytest.approx(2 * before),)]
    operation("fast_forward", relation="int_weather_hourly", branch="correction")
    assert lakehouse.rows(wind.format(table)) == [(pytest.approx(2 * before),)]
    assert lakehouse.rows(rest.format(table)) == others
    lakehouse.dbt("run", "--select", "int_weather_hourly", "--vars", "known_until: 2013-02-05")
    assert lakehouse.rows(wind.format(table)) == [(pytest.approx(2 * before),)]
    assert lakehouse.rows(f"select max(observed_on) from {table}") == [(date(2013, 2, 5),)]
