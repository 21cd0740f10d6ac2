"""An increment whose types do not fit the table's columns is refused, even if its values would fit.

With the flag `require_lossless_casts` off, Spark casts the values, with a deprecation warning for each model.
"""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, update_config_file

from dbt.adapters.paimon.capabilities import Capability
from functional.conftest import VERSIONS

TO_TEXT = Capability.FILTERS_AFTER_CHANGE_TO_TEXT

# name -> the expressions of the runs: the first, one of the same type, one of another type whose value fits, and one
# whose value does not
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
# The last two expressions as Spark casts them.
CAST = {
    "integer": ["127", "-128"],
    "decimal": ["99.0", None],
    "word": ["2", None],
    "fraction": ["7", "2147483647"],
}
STRATEGIES = {"upsert": "primary_key='id'", "merge": "incremental_strategy='merge', unique_key='id'"}


class TestNarrowerColumns:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        # ANSI is off: with it (Spark 4's default), casts of values that do not fit would fail.
        conf = dbt_profile_target.get("spark_config", {}) | {"spark.sql.ansi.enabled": "false"}
        return dbt_profile_target | {"spark_config": conf}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"days.csv": "id,day\n1,2024\n2\n"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+column_types": {"day": "date"}}}

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
        before = {name: rows(f"select id, cast(n as string) from {{schema}}.{name} order by id") for name in names}
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
                # Before Paimon 1.3, on_schema_change is not suggested: filters fail after an ALTER from number to text.
                altered = not result.node.name.startswith("word") or VERSIONS.supports(TO_TEXT)
                remedy = "on_schema_change" if altered else "needs Paimon >= 1.3"
                assert remedy in result.message, result.message
                assert ("on_schema_change" in result.message) is altered
        for name in names:
            assert rows(f"select id, cast(n as string) from {{schema}}.{name} order by id") == before[name], name

        self._casts_with_the_flag_off(rows, names)

    def _casts_with_the_flag_off(self, rows, names):
        update_config_file({"flags": {"require_lossless_casts": False}}, "dbt_project.yml")
        events = []
        for number in (2, 3):
            run_dbt(["run", "--vars", f"run: {number}"], callbacks=[events.append])
        for name in names:
            found = rows(f"select cast(n as string) from {{schema}}.{name} where id > 1 order by id")
            assert [row[0] for row in found] == CAST[name.rpartition("_")[0]], name
        told = [e.data.old_name for e in events if e.info.name == "AdapterDeprecationWarning"]
        for name in names:
            mine = [text for text in told if text.startswith(f"model '{name}': n (")]
            assert len(mine) == 2, told
        self._seeds_of_before(rows)

    def _seeds_of_before(self, rows):
        """Seed text that Spark would misread is refused. With the flags off, it is cast, and short lines get NULLs."""
        update_config_file({"flags": {}}, "dbt_project.yml")
        (refused,) = run_dbt(["seed"], expect_pass=False)
        assert "column day: '2024' is not a valid date" in refused.message
        flags = {"require_lossless_casts": False, "require_strict_config": False}
        update_config_file({"flags": flags}, "dbt_project.yml")
        events = []
        run_dbt(["seed"], callbacks=[events.append])
        assert rows("select id, cast(day as string) from {schema}.days order by id") == [
            (1, "2024-01-01"),
            (2, None),
        ]
        told = [e.data.old_name for e in events if e.info.name == "AdapterDeprecationWarning"]
        assert sum("column day: '2024' is not a valid date" in text for text in told) == 1, told
