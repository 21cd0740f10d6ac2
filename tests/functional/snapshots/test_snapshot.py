"""dbt snapshots on Paimon primary-key tables."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

PLANES = """
{{ config(materialized='table') }}
select id, owner, cast(at as timestamp) as at from values
{% if var('day', 1) == 1 %}(1, 'a', '2024-01-01'), (2, 'b', '2024-01-01')
{% else %}(1, 'a', '2024-01-01'), (2, 'B', '2024-01-02'), (3, 'c', '2024-01-02'){% endif %}
as t(id, owner, at)
"""
YAML = """
snapshots:
  - name: by_check
    relation: ref('planes')
    config: {unique_key: id, strategy: check, check_cols: [owner]}
  - name: by_time
    relation: ref('planes')
    config: {unique_key: id, strategy: timestamp, updated_at: at, hard_deletes: invalidate}
"""


class TestSnapshot:
    @pytest.fixture(scope="class")
    def models(self):
        return {"planes.sql": PLANES}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshots.yml": YAML}

    def test_versions(self, project, rows):
        run_dbt(["run"])
        run_dbt(["snapshot"])
        run_dbt(["snapshot"])
        for name in ("by_check", "by_time"):
            assert rows(f"select count(*) from {{schema}}.{name}") == [(2,)]
            keys = rows(
                f"select primary_keys from {{schema}}.`{name}$schemas` order by schema_id desc limit 1"
            )
            assert keys == [('["dbt_scd_id"]',)]
        run_dbt(["run", "--vars", "day: 2"])
        run_dbt(["snapshot"])
        for name in ("by_check", "by_time"):
            versions = rows(f"select id, owner, dbt_valid_to is null from {{schema}}.{name} order by 1, 3")
            assert versions == [(1, "a", True), (2, "b", False), (2, "B", True), (3, "c", True)], name
