"""Timestamps and dates up to the limits of Spark, to the microsecond, in any session time zone."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture

pytestmark = pytest.mark.full

# Times in UTC. Some are around clock changes, where a local hour is missing or occurs twice.
MOMENTS = {
    1: "0001-01-01 00:00:00",
    2: "0001-01-01 23:59:59.999999",
    3: "1582-10-04 12:00:00",
    4: "1582-10-15 12:00:00",
    5: "1883-11-18 17:00:00.000001",
    6: "1969-12-31 23:59:59.999999",
    7: "1970-01-01 00:00:00",
    8: "2024-02-29 23:59:59.123456",
    9: "2024-03-10 07:00:00",
    10: "2024-03-31 01:00:00",
    11: "2024-10-27 00:30:00",
    12: "2024-10-27 01:30:00",
    13: "2024-11-03 05:30:00",
    14: "2024-11-03 06:30:00",
    15: "9999-12-31 23:59:59.999999",
}
QUERY = (
    "select id, cast(text || 'Z' as timestamp) as moment, cast(text as timestamp_ntz) as clock, "
    "cast(substr(text, 1, 10) as date) as day, array(cast(text || 'Z' as timestamp)) as moments from values "
    + ", ".join(f"({i}, '{text}')" for i, text in MOMENTS.items())
    + " as t(id, text)"
)
# Numbers, because the text of a moment depends on the session's time zone, but the stored value does not.
COUNTED = (
    "select id, unix_micros(moment) as micros, "
    "unix_micros(cast(cast(clock as string) || 'Z' as timestamp)) as clock, unix_date(day) as day, "
    "unix_micros(moments[0]) as first from {} order by id"
)
# The first moment is in the year 0 west of Greenwich, the last in the year 10000 east of it: Python has neither.
SHOWN = """
select id, moment, '@' || cast(moment as string) as moment_text, clock, '@' || cast(clock as string) as clock_text, day
from {{ ref('as_parquet') }} where year(moment) between 1 and 9999 order by id
"""
CONFIGS = {
    "as_parquet": "materialized='table'",
    "as_avro": "materialized='table', file_format='avro'",
    "keyed": "materialized='incremental', primary_key=['id', 'moment', 'day'], bucket=1",
    "merged": "materialized='incremental', primary_key='id', incremental_strategy='merge'",
    "by_day": "materialized='incremental', incremental_strategy='insert_overwrite', partition_by='day'",
}


class Timestamps:
    ZONE = "UTC"

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        config = dbt_profile_target["spark_config"] | {"spark.sql.session.timeZone": self.ZONE}
        return dbt_profile_target | {"spark_config": config}

    @pytest.fixture(scope="class")
    def models(self):
        files = {f"{n}.sql": f"{{{{ config({config}) }}}} {QUERY}" for n, config in CONFIGS.items()}
        files["seeds.yml"] = json.dumps(
            {
                "version": 2,
                "seeds": [
                    {
                        "name": "seeded",
                        "config": {"column_types": {"moment": "timestamp", "clock": "timestamp_ntz", "day": "date"}},
                    }
                ],
            }
        )
        return files

    @pytest.fixture(scope="class")
    def seeds(self):
        lines = [f"{i},{text}Z,{text},{text[:10]}" for i, text in MOMENTS.items()]
        return {"seeded.csv": "\n".join(["id,moment,clock,day", *lines]) + "\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "versions.sql": "{% snapshot versions %}{{ config(unique_key='id', strategy='check', check_cols='all') }} "
            f"{QUERY} {{% endsnapshot %}}"
        }

    def test_edges(self, project, rows):
        for _ in range(2):
            run_dbt(["build"])
        expected = rows(COUNTED.format(f"({QUERY})"))
        # The calendar is the proleptic Gregorian one.
        assert expected[0] == (1, -62135596800000000, -62135596800000000, -719162, -62135596800000000)
        assert expected[-1] == (15, 253402300799999999, 253402300799999999, 2932896, 253402300799999999)
        for name in (*CONFIGS, "versions"):
            assert rows(COUNTED.format(f"{{schema}}.{name}")) == expected, name
        seeded = COUNTED.replace("moments[0]", "moment")
        assert rows(seeded.format("{schema}.seeded")) == expected

    def test_shown(self, project):
        _, output = run_dbt_and_capture(["--quiet", "show", "--output", "json", "--limit", "-1", "--inline", SHOWN])
        shown = json.loads(output[output.index("{") :])["show"]
        assert len(shown) >= len(MOMENTS) - 1
        for row in shown:
            for column in ("moment", "clock"):
                text = row[f"{column}_text"].removeprefix("@")
                assert datetime.fromisoformat(row[column]) == datetime.fromisoformat(text)


class TestUtc(Timestamps):
    pass


class TestNewYork(Timestamps):
    ZONE = "America/New_York"


class TestBerlin(Timestamps):
    ZONE = "Europe/Berlin"


class TestOffset(Timestamps):
    ZONE = "+14:00"


ORC = "{{ config(materialized='table', file_format='orc') }} " + QUERY


class TestOrc:
    @pytest.fixture(scope="class")
    def models(self):
        return {"as_orc.sql": ORC}

    @pytest.fixture(scope="class")
    def found(self, project, rows):
        run_dbt(["run"])
        return rows(COUNTED.format("{schema}.as_orc")), rows(COUNTED.format(f"({QUERY})"))

    def test_since_1970(self, found):
        read, written = found
        assert read[6:] == written[6:]

    @pytest.mark.xfail(
        strict=True,
        raises=AssertionError,
        reason="Paimon gives ORC java.sql.Timestamp (FieldWriterFactory): before October 1582 of another calendar, and "
        "before 1970 with a fraction of a second a second off",
    )
    def test_before(self, found):
        read, written = found
        assert read[:6] == written[:6]
