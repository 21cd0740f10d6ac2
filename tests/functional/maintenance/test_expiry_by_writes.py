"""With the options that the warning about `partition.expiration-time` advises, a write expires old partitions."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='append', partition_by='day', tblproperties={{
    'partition.expiration-time': '7 d', 'partition.timestamp-formatter': 'yyyy-MM-dd'{more}
}}) }}}}
select 1 as id, '2024-01-31' as day union all select 2, '2999-01-31'
"""


class TestExpiryByWrites:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "as_advised.sql": MODEL.format(more=", 'partition.expiration-check-interval': '0 s'"),
            "warned_about.sql": MODEL.format(more=""),
        }

    def test_rows(self, project, rows):
        for _ in range(2):
            run_dbt(["run"])
        assert {row[0] for row in rows("select day from {schema}.as_advised")} == {"2999-01-31"}
        # Nothing expires, as the warning says.
        assert len(rows("select day from {schema}.warned_about")) == 4
