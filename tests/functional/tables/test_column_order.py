"""A rebuild in place gives the table the order of its model's columns, so that `union all` and `*` take the right ones."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability

FIRST = "select 1 as id, 'Ann' as name, 10 as part"
LATER = "select 'a@x' as email, 10 as part, 1 as id, 'Ann' as name"
CONFIGS = {
    "rebuilt": "materialized='table'",
    "keyed": "materialized='table', primary_key=['id', 'part'], partition_by='part', bucket=1",
    "refreshed": "materialized='incremental', primary_key='id', on_schema_change='append_new_columns'",
    "sorted": "materialized='table', wap=true",
}


def model(config: str, query: str) -> str:
    return f"{{{{ config({config}) }}}} {query}"


class TestColumnOrder:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": model(config, FIRST) for name, config in CONFIGS.items()}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"loaded.csv": "id,name,part\n1,Ann,10\n"}

    def test_a_rebuild(self, project, rows):
        run_dbt(["build"])
        rows("call paimon.sys.create_tag(table => '{schema}.keyed', tag => 'old')")
        for name, config in CONFIGS.items():
            write_file(model(config, LATER), project.project_root, "models", f"{name}.sql")
        write_file("email,part,id,name\na@x,10,1,Ann\n", project.project_root, "seeds", "loaded.csv")
        run_dbt(["run", "--select", "refreshed"])
        # An increment adds a column at the end, as in other adapters.
        assert rows("select * from {schema}.refreshed") == [(1, "Ann", 10, "a@x")]
        run_dbt(["build", "--full-refresh"])
        for name in (*CONFIGS, "loaded"):
            # Without a key, a moved column would give `order by … limit` wrong rows.
            moves = "key" in CONFIGS.get(name, "") or VERSIONS.supports(Capability.TOP_N)
            expected = ("a@x", 10, 1, "Ann") if moves else (1, "Ann", 10, "a@x")
            assert rows(f"select * from {{schema}}.{name}") == [expected], name
        assert rows("select name from {schema}.keyed where part = 10 and id = 1 and email = 'a@x'") == [("Ann",)]
        assert rows("select * from {schema}.keyed version as of 'old'") == [(1, "Ann", 10)]

    def test_the_next_run_moves_nothing(self, project, rows):
        def schemas() -> list[tuple[str, int]]:
            found = [rows(f"select '{name}', count(*) from {{schema}}.`{name}$schemas`") for name in CONFIGS]
            return [pair for pairs in found for pair in pairs]

        before = schemas()
        run_dbt(["build", "--full-refresh"])
        assert schemas() == before
