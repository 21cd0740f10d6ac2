"""A snapshot whose dbt_valid_to_current changes does not add versions beside those that are still current."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.tests.util import run_dbt


def snapshot(end: str | None, strategy: str) -> dict[str, Any]:
    compared = {"updated_at": "u"} if strategy == "timestamp" else {"check_cols": ["v"]}
    config = {"strategy": strategy, "unique_key": "id", **compared}
    if end:
        config["dbt_valid_to_current"] = end
    return {"name": f"by_{strategy}", "relation": "ref('rows')", "config": config}


class TestChangedEnd:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        row = "select 1 as id, {{ var('v', 1) }} as v, timestamp'2024-01-01' as u"
        return {"rows.sql": "{{ config(materialized='view') }} " + row}

    def test_it_is_refused_until_the_versions_are_updated(self, project: Any, rows: Any) -> None:
        path = Path(project.project_root, "snapshots", "history.yml")

        def write(end: str | None) -> None:
            path.write_text(yaml.safe_dump({"snapshots": [snapshot(end, each) for each in ("timestamp", "check")]}))

        def found() -> list[list[tuple]]:
            return [rows(f"select * from {{schema}}.by_{each}") for each in ("timestamp", "check")]

        write("to_date('9999-12-31')")
        run_dbt(["build"])
        before = found()
        for end in (None, "to_date('2999-12-31')"):
            write(end)
            results = run_dbt(["snapshot"], expect_pass=False)
            assert len(results) == 2
            for result in results:
                assert "dbt_valid_to_current or the session time zone has changed" in result.message
            assert found() == before
        # Do what the message says.
        for name in ("by_timestamp", "by_check"):
            end = "dbt_valid_to = timestamp'{}-12-31'"
            rows(f"update {{schema}}.{name} set {end.format(2999)} where {end.format(9999)}")
        run_dbt(["build", "--vars", "v: 2"])
        ends = "select year(dbt_valid_to) from {schema}.by_check order by 1"
        assert [year for (year,) in rows(ends)][1:] == [2999]
        assert rows("select count(*) from {schema}.by_timestamp") == [(1,)]
