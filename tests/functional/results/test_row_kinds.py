"""A node's response counts inserts and updates where a changelog or the row count tells them apart."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

_QUERY = """
select id, concat('name {{ var("batch") }} ', id) as name from range({{ var('first') }}, {{ var('end') }})
"""


def model(**config: str) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in config.items())
    return f"{{{{ config(materialized='incremental', {given}) }}}}{_QUERY}"


MODELS = {
    "looked_up": model(primary_key="id", changelog_producer="lookup"),
    "input": model(primary_key="id", changelog_producer="input"),
    "upserted": model(primary_key="id"),
    "merged": model(unique_key="id"),
    "merged_with_deletes": model(unique_key="id", merge_delete_condition="DBT_INTERNAL_SOURCE.id = 95"),
    "merged_by_key": model(primary_key="id", incremental_strategy="merge", changelog_producer="lookup"),
}
# (rows_inserted, rows_updated) of a run that writes rows 90 to 129 into a table with rows 0 to 99.
KINDS = {
    "looked_up": (30, 10),
    "input": (None, None),
    "upserted": (None, None),
    "merged": (30, None),
    "merged_with_deletes": (None, None),
    "merged_by_key": (30, 10),
}


class TestRowKinds:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": sql for name, sql in MODELS.items()}

    @pytest.fixture(scope="class")
    def responses(self, project):
        def built(batch: int, first: int, end: int):
            variables = f"{{batch: {batch}, first: {first}, end: {end}}}"
            return {r.node.name: r.adapter_response for r in run_dbt(["run", "--vars", variables])}

        built(0, 0, 100)
        return built(1, 90, 130)

    @pytest.mark.parametrize("name", MODELS)
    def test_kinds(self, responses, rows, name):
        response = responses[name]
        assert (response.get("rows_inserted"), response.get("rows_updated")) == KINDS[name]
        there, written = rows(f"select count(*), count_if(name like 'name 1 %') from {{schema}}.`{name}`")[0]
        if name != "merged_with_deletes":
            assert (there, written) == (130, 40)
