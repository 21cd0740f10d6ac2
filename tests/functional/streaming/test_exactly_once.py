"""A stream that is killed (SIGKILL to dbt and its JVM) at its worst moments loses no row and writes none twice."""

from __future__ import annotations

from collections import Counter

import pytest
from dbt.tests.util import run_dbt

OPTIONS = "options={'maxSnapshotsPerTrigger': 1}"
MODELS = {
    "sources.yml": "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: events}]}]",
    "log.sql": f"""
{{{{ config(materialized='streaming') }}}} select id, v from {{{{ stream(source('raw', 'events'), {OPTIONS}) }}}}
""",
    "sums.sql": f"""
{{{{ config(
    materialized='streaming', primary_key='part', bucket=1, merge_engine='aggregation',
    fields={{'total': {{'aggregate_function': 'sum'}}, 'n': {{'aggregate_function': 'sum'}}}}
) }}}}
select id % 3 as part, sum(v) as total, count(*) as n
from {{{{ stream(source('raw', 'events'), {OPTIONS}) }}}} group by 1
""",
}
# The first batch of a stream reads the whole table, each later one reads one commit.
POINTS = [
    ("log", 0, "after"),
    ("log", 0, "planned"),
    ("sums", 0, "before"),
    ("log", 1, "begun"),
]
# Only with `--full`: later batches, because batch 0 of `log` already shows the same.
LATER = [("sums", 1, "after"), ("log", 2, "after")]


class TestExactlyOnce:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    def test_kills(self, project, rows, killed, pytestconfig):
        rows("create table {schema}.events (id int, v int)")
        written = []
        for number, point in enumerate(POINTS + LATER * pytestconfig.getoption("--full")):
            for commit in range(3):
                first = 100 * number + 10 * commit
                new = [(first + index, first % 7 + index) for index in range(4)]
                rows(f"insert into {{schema}}.events values {', '.join(map(str, new))}")
                written += new
            killed(*point)
            # Even while the stream is down, the table has only whole commits, each once.
            there = sorted(rows("select id, v from {schema}.log")) if number else []
            assert there == written[: len(there)] and len(there) % 4 == 0
        results = run_dbt(["run"])
        assert all(result.status == "success" for result in results)
        assert sorted(rows("select id, v from {schema}.log")) == written
        totals, counts = Counter(), Counter()
        for key, value in written:
            totals[key % 3] += value
            counts[key % 3] += 1
        assert sorted(rows("select part, total, n from {schema}.sums")) == [
            (part, totals[part], counts[part]) for part in range(3)
        ]
