"""The whole year, as `make run` builds it: every node passes, and the marts hold what pandas makes of the same files."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest
from land_flights import data_folder

sys.path.insert(0, str(Path(__file__).parent))
import marts_by_pandas as by_pandas

MARTS = [name.removeprefix("expected_") for name in dir(by_pandas) if name.startswith("expected_mart_")]


@pytest.fixture(scope="module")
def year(new_lakehouse):
    lakehouse = new_lakehouse("year")
    results = lakehouse.dbt("build")
    return lakehouse, results


def test_every_node_passes(year):
    _, results = year
    assert {result.status for result in results} <= {"success", "pass", "no-op"}
    assert len(results) > 50


def test_all_flights_are_in(year):
    lakehouse, _ = year
    assert lakehouse.rows(
        "select count(*), count(distinct flight_id) from paimon.flights_marts.fct_flights"
    ) == [(336_776, 336_776)]


@pytest.mark.parametrize("mart", MARTS)
def test_mart_equals_pandas(year, mart):
    lakehouse, _ = year
    expected = getattr(by_pandas, f"expected_{mart}")(data_folder())
    columns = ", ".join(f"`{column}`" for column in expected.columns)
    home = "`paimon`" if ("flights_marts", mart) in lakehouse.names() else "`spark_catalog`"
    rows = lakehouse.rows(f"select {columns} from {home}.`flights_marts`.`{mart}`")
    got = pd.DataFrame(rows, columns=expected.columns)
    keys = [c for c in expected.columns if not pd.api.types.is_numeric_dtype(expected[c])] or list(
        expected.columns[:1]
    )
    pd.testing.assert_frame_equal(
        got.sort_values(keys).reset_index(drop=True),
        expected.sort_values(keys).reset_index(drop=True),
        check_dtype=False,
    )


def test_what_has_not_landed_is_said_with_the_command(new_lakehouse, monkeypatch, tmp_path):
    monkeypatch.setenv("FLIGHTS_DATA", str(tmp_path))
    with pytest.raises(AssertionError, match=r"airlines\.csv` -- if it is missing, type: make landing"):
        new_lakehouse("nothing_landed").dbt("run", "--select", "stg_airlines")
