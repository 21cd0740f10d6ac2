"""Data evolution: a MERGE of some columns writes files with these columns alone, and the other files stay as they are."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities import Capability

# The first run fills all columns, later runs only `score`.
FEATURES = """
{{ config(
    materialized='incremental', incremental_strategy='merge', unique_key='id', merge_update_columns=['score'],
    tblproperties={'row-tracking.enabled': true, 'data-evolution.enabled': true}
) }}
select cast(id as int) as id, repeat(md5(cast(id as string)), 20) as text, {{ var('run', 1) }} as score
from range({{ 2000 if var('run', 1) == 1 else 2001 }})
{% if is_incremental() %} where id % 2 = 0 {% endif %}
"""
SCORES = "select score, count(*), count(text), count(distinct id) from {schema}.features group by score order by score"


@pytest.mark.needs(Capability.DATA_EVOLUTION)
class TestDataEvolution:
    @pytest.fixture(scope="class")
    def models(self):
        return {"features.sql": FEATURES}

    def test_other_columns_are_not_written_again(self, project, rows):
        run_dbt(["run"])
        files = "select file_path, file_size_in_bytes from {schema}.`features$files` order by 1"
        before = rows(files)
        run_dbt(["run", "--vars", "run: 2"])
        assert rows(SCORES) == [(1, 1000, 1000, 1000), (2, 1001, 1001, 1001)]
        after = rows(files)
        assert set(before) < set(after)
        new = sum(size for _, size in set(after) - set(before))
        assert new * 3 < sum(size for _, size in before)
