"""Snapshots of every strategy and `hard_deletes`, compared after each run with a Python version of dbt's docs."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
import yaml
from dbt.tests.util import run_dbt

from differential.snapshot_model import Row, SnapshotConfig, Version, after_run

# k, a, b, and per day: (v, day of January 2024 in u), or None if there is no row. The key is k, or a and b.
HISTORY: list[tuple[str | None, str | None, str, list[tuple[int, int | None] | None]]] = [
    ("same", "x|y", "z", [(1, 1), (1, 1), (1, 1), (1, 1)]),
    ("changes", "x", "y|z", [(1, 1), (2, 2), (2, 2), (3, 3)]),
    ("changes without u", "x", "", [(1, 1), (2, 1), (2, 1), (3, 1)]),
    ("goes back in time", "x", "~0", [(1, 5), (2, 4), (2, 4), (3, 6)]),
    (None, None, "x", [(1, 1), None, (1, 1), None]),
    ("", "", "x", [(1, 1), None, (1, 2), (2, 3)]),
    ("~0", "~0", "x", [(1, 1), None, None, (1, 1)]),
    ("comes and goes", "x~", "|", [None, (1, 1), (2, 2), None]),
    ("without u", "x~|", "", [(1, None), (2, None), (3, 3), (4, None)]),
    ("in the future", None, "", [(1, 30_000), None, (1, 30_000), (2, 30_001)]),
]
DAYS = 4
# dbt_valid_to of current versions, as a timestamp and as text.
ENDLESS = (dt.datetime(9999, 12, 31), "9999-12-31")
EPHEMERAL = """{{ config(materialized='ephemeral', event_time='u') }}
select n, k, a, b, cast(v as int) as v, cast(u as timestamp) as u, cast(u as date) as d
from values (0, '', '', '', '', 0, '')<rows> as t(day, n, k, a, b, v, u) where day = {{ var('day') }}
"""
# Three times in the night in which clocks are set back: in Berlin, the first and the last are both 02:00.
CLOCKS = """{{ config(materialized='ephemeral') }}
select 1 as id, timestamp_seconds(1729987200 + 1800 * ({{ [var('day'), 3] | min }} - 1)) as u
"""
IN_BERLIN = {
    "unique_key": "id",
    "strategy": "timestamp",
    "updated_at": "u",
    "spark_config": {"spark.sql.session.timeZone": "Europe/Berlin"},
}
# On day 1, snapshots named old… are built with dbt-spark's hash, as by earlier versions of the adapter.
OLD_HASH = """{% macro paimon__snapshot_hash_arguments(args) %}
{%- if model.name.startswith('old') and var('day') == 1 -%}
  {{ spark__snapshot_hash_arguments(args) }}
{%- else -%}
  {{ dbt.paimon__snapshot_hash_arguments(args) }}
{%- endif -%}
{% endmacro %}
"""
RENAMED = {
    "dbt_valid_from": "Since",
    "dbt_valid_to": "Until",
    "dbt_scd_id": "Id",
    "dbt_updated_at": "At",
    "dbt_is_deleted": "Del",
}
STRATEGIES = {
    "by_time": {"strategy": "timestamp", "updated_at": "u"},
    "by_check": {"strategy": "check", "check_cols": ["v"]},
    "by_check_with_time": {"strategy": "check", "check_cols": ["V", "k"], "updated_at": "u"},
    "by_check_with_day": {"strategy": "check", "check_cols": "all", "updated_at": "d"},
}
KEYS = {"k": "k", "ab": ["a", "b"]}
IN_SQL = {"unique_key": ["a", "b"], "strategy": "timestamp", "updated_at": "u", "hard_deletes": "new_record"}


def configs() -> dict[str, dict[str, Any]]:
    """The config of each snapshot. "renamed" is defined in SQL, the others in YAML."""
    found: dict[str, dict[str, Any]] = {
        f"{strategy}_{deletes}_{key}": {
            **STRATEGIES[strategy],
            "hard_deletes": deletes,
            "unique_key": KEYS[key],
        }
        for (strategy, deletes), key in zip(
            product(STRATEGIES, ("ignore", "invalidate", "new_record")), ["k", "ab"] * 6, strict=True
        )
        if strategy != "by_check_with_day" or deletes == "new_record"
    }
    for name, end in (
        ("by_time_invalidate_ab", "'9999-12-31'"),
        ("by_check_ignore_ab", "timestamp'9999-12-31'"),
    ):
        found[name]["dbt_valid_to_current"] = end
    found["old_hash"] = {**STRATEGIES["by_time"], "hard_deletes": "new_record", "unique_key": ["n", "k"]}
    found["was_text"] = {**found["by_time_invalidate_ab"], "unique_key": "k"}
    found["renamed"] = {
        **IN_SQL,
        "snapshot_meta_column_names": RENAMED,
        "dbt_valid_to_current": "'9999-12-31'",
    }
    return found


def rows_of(day: int) -> list[Row]:
    """The rows that the query returns on a day (from 1)."""
    found = []
    for number, (k, a, b, days) in enumerate(HISTORY):
        if (given := days[day - 1]) is not None:
            v, n = given
            u = None if n is None else dt.datetime(2023, 12, 31) + dt.timedelta(days=n)
            found.append({"n": f"{number}|", "k": k, "a": a, "b": b, "v": v, "u": u, "d": u and u.date()})
    return found


def model_sql() -> str:
    def literal(value: Any) -> str:
        return "null" if value is None else str(value) if isinstance(value, int) else f"'{value}'"

    rows = [
        f"({day}, {', '.join(literal(row[name]) for name in ('n', 'k', 'a', 'b', 'v', 'u'))})"
        for day in range(1, DAYS + 1)
        for row in rows_of(day)
    ]
    return EPHEMERAL.replace("<rows>", ", " + ", ".join(rows))


@dataclass(frozen=True)
class Run:
    """The start and end of a run, in UTC without a zone."""

    start: dt.datetime
    end: dt.datetime


def now() -> dt.datetime:
    return dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)


def as_text(versions: Sequence[Version]) -> list[str]:
    return sorted(
        json.dumps([*v.row.values(), v.valid_from, v.valid_to, v.updated_at, v.deleted], default=str) for v in versions
    )


@pytest.mark.full
class TestVersions:
    @pytest.fixture(scope="class")
    def models(self):
        return {"history.sql": model_sql(), "clocks.sql": CLOCKS}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"hash.sql": OLD_HASH}

    @pytest.fixture(scope="class")
    def snapshots(self):
        entries = [
            {"name": name, "relation": "ref('history')", "config": config}
            for name, config in configs().items()
            if name != "renamed"
        ]
        entries.append({"name": "in_berlin", "relation": "ref('clocks')", "config": IN_BERLIN})
        given = ", ".join(f"{key}={value!r}" for key, value in configs()["renamed"].items())
        sql = "{% snapshot renamed %}{{ config(" + given + ") }} select * from {{ ref('history') }} {% endsnapshot %}"
        return {"history.yml": yaml.safe_dump({"snapshots": entries}), "renamed.sql": sql}

    def test_versions(self, project, rows):
        expected: dict[str, tuple[Version, ...]] = {}
        runs: list[Run] = []

        def run(day: int, given: list[Row], *arguments: str) -> None:
            start = now()
            results = run_dbt(["build", "--vars", f"day: {day}", *arguments])
            assert len(results) == len(configs()) + 1
            runs.append(Run(start, now()))
            wrong = {}
            for name, config in configs().items():
                expected[name] = _after_run(config, expected.get(name), given, start, bool(arguments))
                if (found := as_text(_found(rows, name, config, runs))) != (wanted := as_text(expected[name])):
                    wrong[name] = {
                        "too much": sorted(set(found) - set(wanted)),
                        "missing": sorted(set(wanted) - set(found)),
                    }
            assert not wrong, f"run {len(runs)}: {json.dumps(wrong, indent=1)}"

        run(1, rows_of(1))
        # Earlier versions of the adapter stored dbt_valid_to as text if dbt_valid_to_current was text.
        for change in ("drop column dbt_valid_to", "add column dbt_valid_to string"):
            project.run_sql(f"alter table {{schema}}.was_text {change}")
        project.run_sql("update {schema}.was_text set dbt_valid_to = '9999-12-31'")
        run(2, rows_of(2))
        run(3, [], "--empty")
        run(3, rows_of(3))
        sample = [row for row in rows_of(4) if row["u"] == dt.datetime(2024, 1, 3)]
        run(4, sample, "--sample", "{'start': '2024-01-03', 'end': '2024-01-04'}")
        run(4, rows_of(4))
        assert rows("select count(*), count(dbt_valid_to), count(distinct u) from {schema}.in_berlin") == [(3, 2, 3)]
        for name, config in configs().items():
            if name == "was_text":
                continue
            names = config.get("snapshot_meta_column_names", {})
            times = [names.get(each, each) for each in ("dbt_valid_from", "dbt_valid_to", "dbt_updated_at")]
            types = {rows(f"select typeof({each}) from {{schema}}.{name} limit 1")[0][0] for each in times}
            assert types == {"date" if config.get("updated_at") == "d" else "timestamp"}, name


def _after_run(
    config: dict[str, Any],
    before: tuple[Version, ...] | None,
    given: list[Row],
    now: dt.datetime,
    partial: bool,
) -> tuple[Version, ...]:
    key, check_cols, updated_at = (
        config["unique_key"],
        config.get("check_cols", "all"),
        config.get("updated_at"),
    )
    snapshot = SnapshotConfig(
        unique_key=(key,) if isinstance(key, str) else tuple(key),
        strategy=config["strategy"],
        updated_at=updated_at,
        check_cols=check_cols if check_cols == "all" else tuple(map(str.lower, check_cols)),
        hard_deletes=config["hard_deletes"],
    )
    return after_run(snapshot, before, given, now.date() if updated_at == "d" else now, partial)


def _of_run(value: Any, runs: Sequence[Run]) -> Any:
    """The start of the run in which a time falls; any other value unchanged."""
    value = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    for run in runs:
        start, end = (run.start, run.end) if isinstance(value, dt.datetime) else (run.start.date(), run.end.date())
        if value is not None and start <= value <= end:
            return start
    return value


def _found(rows: Any, name: str, config: dict[str, Any], runs: Sequence[Run]) -> list[Version]:
    names = {each: each for each in RENAMED} | config.get("snapshot_meta_column_names", {})
    deleted = names["dbt_is_deleted"] if config["hard_deletes"] == "new_record" else "'False'"
    found = []
    for *values, since, until, at, is_deleted in rows(
        f"select n, k, a, b, v, u, d, {names['dbt_valid_from']}, {names['dbt_valid_to']}, {names['dbt_updated_at']}, "
        f"{deleted} from {{schema}}.{name}"
    ):
        times = [None if time in ENDLESS else _of_run(time, runs) for time in (since, until, at)]
        row = dict(zip(("n", "k", "a", "b", "v", "u", "d"), values, strict=True))
        found.append(Version(row, times[0], times[2], times[1], is_deleted == "True"))
    return found
