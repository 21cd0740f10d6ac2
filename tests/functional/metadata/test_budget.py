"""If nothing has changed, a run sends at most 5 statements plus 2 per model, in addition to the models' own."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

MODELS = 100
A_RUN, A_MODEL = 5, 2

TABLE = "{{ config(materialized='table', primary_key='id') }} select 1 as id"
INCREMENTAL = "{{ config(materialized='incremental', primary_key='id') }} select 1 as id"
MERGE = (
    "{{ config(materialized='incremental', incremental_strategy='merge', primary_key='id', unique_key='id') }}"
    " select 1 as id"
)
VIEW = "{{ config(materialized='view') }} select 1 as id"

# A model's own statements write its rows or define its view.
_OWN = re.compile(r"^(insert|merge|create or replace view)\b", re.IGNORECASE)
_COMMENT = re.compile(r"^/\*.*?\*/\s*", re.DOTALL)


@pytest.mark.full
class TestBudget:
    @pytest.fixture(scope="class")
    def models(self):
        kinds = (TABLE, INCREMENTAL, MERGE, VIEW)
        return {f"model_{number:03}.sql": kinds[number % len(kinds)] for number in range(MODELS)}

    def test_no_change_run(self, project, monkeypatch, capsys):
        run_dbt(["run"])
        statements: list[str] = []
        spark_sql = SparkSession.sql

        def counted(session, query, *args, **kwargs):
            statements.append(_COMMENT.sub("", query).strip())
            return spark_sql(session, query, *args, **kwargs)

        monkeypatch.setattr(SparkSession, "sql", counted)
        run_dbt(["run"])
        monkeypatch.undo()

        own = [statement for statement in statements if _OWN.match(statement)]
        assert len(own) == MODELS
        added = [statement for statement in statements if not _OWN.match(statement)]
        kinds = Counter(re.sub(r"model_\d+\w*|[0-9a-f]{12}", "…", " ".join(s.split()))[:90] for s in added)
        listed = "\n".join(f"  {count:4} {kind}" for kind, count in kinds.most_common())
        with capsys.disabled():
            print(f"\n{len(added)} statements in addition to those of the {MODELS} models:\n{listed}")
        assert len(added) <= A_RUN + A_MODEL * MODELS
