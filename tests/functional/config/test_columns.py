"""A config that does not fit the query's columns is refused before any statement changes a new or existing table."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file

QUERY = "select 1 as id, 'a' as name, 2 as n"
GOOD = "fields={'n': {'aggregate_function': 'sum'}}"
# config -> parts of the message, in addition to the node
BAD = {
    "fields={'name': {'aggregate_function': 'sum'}}": [
        "fields.name.aggregate_function='sum'",
        "'name' is string",
        "cast the column",
    ],
    "fields={'names': {'aggregate_function': 'sum'}}": [
        "fields.names.aggregate_function='sum'",
        "no column 'names'",
        "mean 'name'",
    ],
    "tblproperties={'record-level.expire-time': '1 d', 'record-level.time-field': 'name'}": [
        "tblproperties['record-level.time-field']='name'",
        "'name' is string",
        "Use an int",
    ],
}
SEED_YAML = "seeds:\n  - name: seed\n    config: {{primary_key: id, merge_engine: aggregation, {config}}}\n"


def write(project, config: str) -> None:
    root = project.project_root
    for kind in ("table", "incremental"):
        head = f"{{{{ config(materialized='{kind}', primary_key='id', merge_engine='aggregation', {config}) }}}}"
        write_file(f"{head}\n{QUERY}", root, "models", f"{kind}.sql")
    write_file(SEED_YAML.format(config=config.replace("=", ": ")), root, "seeds", "seed.yml")


class TestColumns:
    @pytest.fixture(scope="class")
    def models(self):
        return {"placeholder.sql": "{{ config(materialized='ephemeral') }} select 1 as id"}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"seed.csv": "id,name,n\n1,a,2\n"}

    def test_nothing_is_sent(self, project, rows, sent):
        for config, parts in BAD.items():
            self.refused(project, sent, config, parts)
            assert rows("show tables in {schema}") == []
        write(project, GOOD)
        run_dbt(["build"])
        for config, parts in BAD.items():
            self.refused(project, sent, config, parts)
        assert rows("select id, name, n from {schema}.incremental") == [(1, "a", 2)]
        found = dict(rows("select key, value from {schema}.`incremental$options`"))
        assert found["fields.n.aggregate-function"] == "sum"

    @staticmethod
    def refused(project, sent, config: str, parts: list[str]) -> None:
        write(project, config)
        sent.clear()
        results = run_dbt(["build"], expect_pass=False)
        assert {str(result.status) for result in results} == {"error"} and len(results) == 3
        for result in results:
            for part in (f"model '{result.node.name}'", *parts):
                assert part in result.message, result.message
        assert sent.changing == []


class TestSnapshot:
    @pytest.fixture(scope="class")
    def snapshots(self):
        config = "unique_key='id', strategy='check', check_cols='all'"
        options = "tblproperties=var('options', {})"
        return {
            "kept.sql": "{% snapshot kept %}{{ config(" + config + ", " + options + ") }}" + QUERY + "{% endsnapshot %}"
        }

    def test_nothing_is_sent(self, project, rows, sent):
        bad = ["--vars", "options: {'rowkind.field': 'n'}"]
        (result,) = run_dbt(["snapshot", *bad], expect_pass=False)
        assert "tblproperties['rowkind.field']='n'" in result.message and sent.changing == []
        run_dbt(["snapshot"])
        sent.clear()
        (result,) = run_dbt(
            ["snapshot", "--vars", "options: {'file-index.bloom-filter.columns': 'names'}"], expect_pass=False
        )
        assert "no column 'names'" in result.message and "Did you mean 'name'?" in result.message
        assert sent.changing == []
        assert rows("select id, name, n from {schema}.kept") == [(1, "a", 2)]
