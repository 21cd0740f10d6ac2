"""An increment whose type does not fit into the table's columns is refused, whatever its values are; a model that casts is not."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

# name -> (the first run's expression, one that is cast to its type, one of another type whose value would fit, one that
# would not)
CASES = {
    "integer": ("cast(1 as tinyint)", "cast(127 as tinyint)", "127", "128"),
    "decimal": (
        "cast(1 as decimal(3,1))",
        "cast(99 as decimal(3,1))",
        "cast(99 as decimal(9,1))",
        "cast(100 as decimal(9,1))",
    ),
    "word": ("1", "cast('2' as int)", "'2'", "'two'"),
    "fraction": ("cast(1 as int)", "cast(7D as int)", "cast(7 as double)", "cast(1e10 as double)"),
}
STRATEGIES = {"upsert": "primary_key='id'", "merge": "incremental_strategy='merge', unique_key='id'"}


class TestNarrowerColumns:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{case}_{strategy}.sql": f"{{{{ config(materialized='incremental', {config}) }}}}\n"
            "{% set run = var('run', 0) %}"
            f"select cast({{{{ run }}}} as int) as id, {{{{ {list(values)}[run] }}}} as n"
            for case, values in CASES.items()
            for strategy, config in STRATEGIES.items()
        }

    def test_what_the_model_casts_is_written_and_other_types_are_refused(self, project, rows):
        run_dbt(["run"])
        run_dbt(["run", "--vars", "run: 1"])
        names = [f"{case}_{strategy}" for case in CASES for strategy in STRATEGIES]
        before = {
            name: rows(f"select id, cast(n as string) from {{schema}}.{name} order by id") for name in names
        }
        assert {name: [row[1] for row in found] for name, found in before.items()} == {
            f"{case}_{strategy}": values
            for case, values in {
                "integer": ["1", "127"],
                "decimal": ["1.0", "99.0"],
                "word": ["1", "2"],
                "fraction": ["1", "7"],
            }.items()
            for strategy in STRATEGIES
        }
        for number in (2, 3):
            results = run_dbt(["run", "--vars", f"run: {number}"], expect_pass=False)
            for result in results:
                assert result.status == "error", result.node.name
                assert f"model '{result.node.name}': column n is " in result.message
                assert "on_schema_change" in result.message
        for name in names:
            assert rows(f"select id, cast(n as string) from {{schema}}.{name} order by id") == before[name], (
                name
            )
