"""The window of a batch or a sample; tests/functional/incremental/test_batch_zones.py tests which rows it selects."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from dbt.adapters.base.relation import EventTimeFilter
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import event_time

NOON = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "value",
    [
        NOON,
        NOON.replace(tzinfo=None),
        NOON.astimezone(timezone(timedelta(hours=8))),
        "2024-01-01T12:00:00+00:00",
        "2024-01-01 12:00:00Z",
        "2024-01-01T12:00:00",
        "2024-01-01T20:00:00+08:00",
    ],
)
def test_moments_are_in_utc(value):
    assert event_time.Window.of(value, None) == event_time.Window(NOON, None)
    assert event_time.Window.of(None, value) == event_time.Window(None, NOON)


def test_a_date_counts_as_its_midnight():
    before_noon = event_time.Window(NOON - timedelta(hours=1), NOON)
    assert event_time.condition("d", before_noon, "date") == (
        "cast(d as date) >= date '2024-01-02' and cast(d as date) < date '2024-01-02'"
    )
    midnight = NOON.replace(hour=0)
    assert (
        event_time.condition("d", event_time.Window(midnight, None), "date") == "cast(d as date) >= date '2024-01-01'"
    )


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("at", "`at`"),
        ("payload.at", "`payload`.`at`"),
        ('"the time"', "`the time`"),
        ('"a.b"', "`a.b`"),
        ("to_timestamp(at)", "to_timestamp(at)"),
    ],
)
def test_names(name, sql):
    assert event_time.column_sql(name) == sql


def test_without_bounds_an_input_is_read_whole():
    relation = PaimonRelation.create(database="paimon", schema="s", identifier="t")
    assert str(relation.replace(event_time_filter=EventTimeFilter("at"))) == str(relation)


@pytest.mark.parametrize("data_type", ["timestamp", "timestamp_ntz", "date", "string", "varchar(30)", "char(10)"])
def test_times(data_type):
    event_time.refuse_column("m", "AT", {"id": "int", "at": data_type})
    assert event_time.condition("at", event_time.Window(NOON, None), data_type)


@pytest.mark.parametrize("data_type", ["int", "boolean", "array<date>", "struct<at:timestamp>", "binary"])
def test_no_times(data_type):
    with pytest.raises(CompilationError, match=r"event_time: .at. is of type .* Cast it to timestamp"):
        event_time.refuse_column("m", "at", {"at": data_type})
    with pytest.raises(ValueError, match="not a time type"):
        event_time.condition("at", event_time.Window(NOON, None), data_type)


def test_a_column_that_is_not_there():
    with pytest.raises(CompilationError, match=r"'at' is not a column of its query \(id, day\)"):
        event_time.refuse_column("m", "at", {"id": "int", "day": "date"})


def test_without_a_batch():
    with pytest.raises(CompilationError, match="ran without a batch"):
        event_time.batch_condition({"name": "m", "config": {"event_time": "at"}, "batch": None}, [])
