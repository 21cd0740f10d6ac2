"""incremental_predicates in each strategy: an unqualified column is the target table's, and other rows stay."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

# The first run has rows 1 and 2, the second 1 to 3 with another text. Most predicates exclude row 2.
MODEL = """
{{{{ config(materialized='incremental', unique_key='id', {config}) }}}}
select cast(id as bigint) as id, '{{{{ 'new' if is_incremental() else 'old' }}}}' as `the text`,
  array(id, 0) as numbers, named_struct('n', id) as nested, date '2024-01-01' as day
from values (1), (2){{{{ ', (3)' if is_incremental() }}}} as v(id)
"""
KEPT = [(1, "new"), (2, "new"), (2, "old"), (3, "new")]
MODELS = {
    "bare": ("incremental_strategy='delete+insert', incremental_predicates='id != 2'", KEPT),
    "quoted": (
        "incremental_strategy='delete+insert', incremental_predicates=[\"`the text` < 'oldest'\"]",
        [(1, "new"), (2, "new"), (3, "new")],
    ),
    "either": ("incremental_strategy='delete+insert', incremental_predicates=['ID < 2 or id > 2']", KEPT),
    "nested": (
        "incremental_strategy='delete+insert', "
        "incremental_predicates=['nested.n != 2', 'exists(numbers, n -> n = id and n != 2)']",
        KEPT,
    ),
    "qualified": (
        "incremental_strategy='delete+insert', incremental_predicates=['dbt_internal_dest.ID != 2']",
        KEPT,
    ),
    "merged": ("incremental_predicates=['id != 2', \"day >= '2024-01-01'\"]", KEPT),
    "batched": (
        "incremental_strategy='microbatch', event_time='day', batch_size='day', begin='2024-01-01', "
        "partition_by='day', incremental_predicates=['id != 2']",
        KEPT,
    ),
    # With a primary key, a new row always replaces the row with the same key.
    "keyed": (
        "incremental_strategy='delete+insert', primary_key='id', incremental_predicates=['id != 2']",
        [(1, "new"), (2, "new"), (3, "new")],
    ),
    "keyed_by_both": (
        "incremental_strategy='delete+insert', primary_key=['id', 'the text'], incremental_predicates=['id != 2']",
        KEPT,
    ),
}


class TestPredicates:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": MODEL.format(config=config) for name, (config, _) in MODELS.items()}
        broken = MODEL.format(config="incremental_predicates=['id !=']")
        return models | {"broken.sql": broken}

    def test_predicates(self, project, rows):
        run = ["run", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]
        run_dbt([*run])
        results = {r.node.name: r for r in run_dbt([*run], expect_pass=False)}
        assert [name for name, result in results.items() if result.status == "error"] == ["broken"]
        assert "model 'broken': incremental_predicates: 'id !=' is not a SQL expression" in results["broken"].message
        for name, (_, expected) in MODELS.items():
            assert sorted(rows(f"select id, `the text` from {{schema}}.{name}")) == expected, name
            assert len(rows(f"select * from {{schema}}.`{name}$snapshots`")) == 2, name
