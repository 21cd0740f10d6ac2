"""Another writer commits first: dbt repeats a statement if that is safe, and otherwise reports the conflict."""

from __future__ import annotations

import threading

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.spark.session import SessionCursor, open_session

# Seconds between two commits of the other writer.
PAUSE = 0.1
# Some seconds of work before the statement's commit, in one task, so that the other writer has a core.
SLOWLY = (
    "(select sum(hash(a.id, b.id)) from range(0, 20000, 1, 1) as a cross join range(0, 20000, 1, 1) as b) is not null"
)
INCREMENT = "select id, {{ 2 if is_incremental() else 1 }} as n from range({{ 3 if is_incremental() else 2 }})"
# A repeated increment would count twice.
COUNTED = (
    "{{{{ config(materialized='incremental', primary_key='id'{}) }}}} select id, "
    "{{{{ '(select n + 1 from ' ~ this ~ ')' if is_incremental() else 1 }}}} as n from range(1)"
)
# A project's own strategy: the adapter cannot know whether it is idempotent.
MACRO = (
    """
{% macro get_incremental_mine_sql(arg_dict) %}
  {% set slowly = '(select * from ' ~ arg_dict.temp_relation ~ ' where """
    + SLOWLY
    + """)' %}
  {% do return(paimon__get_incremental_merge_sql(dict(arg_dict, temp_relation=slowly))) %}
{% endmacro %}
"""
)


class TestConflicts:
    @pytest.fixture(scope="class")
    def models(self):
        config = "{{{{ config(materialized='incremental', incremental_strategy='{}', unique_key='id') }}}}"
        return {
            "repeated.sql": config.format("merge")
            + INCREMENT
            + "{% if is_incremental() %} where "
            + SLOWLY
            + "{% endif %}",
            "reported.sql": config.format("mine") + INCREMENT,
            "counted.sql": COUNTED.format(""),
            "marked.sql": COUNTED.format(", deletion_vectors=true"),
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"mine.sql": MACRO}

    @pytest.fixture
    def merges(self, project, monkeypatch):
        """dbt's MERGE statements; while the first one runs, another session keeps rewriting its table."""
        merges: list[str] = []
        ended = threading.Event()
        others: list[threading.Thread] = []
        run = SessionCursor._run

        def overwrite(sql):
            session = open_session(project.adapter.runtime).session
            while len(merges) == 1 and not ended.wait(PAUSE):
                session.sql(sql)

        def watched(cursor, statement, *args):
            if "merge into" not in statement:
                return run(cursor, statement, *args)
            merges.append(statement)
            if len(merges) == 1:
                table = f"{project.test_schema}.{'repeated' if '`repeated`' in statement else 'reported'}"
                sql = f"insert overwrite {table} select * from values (0, 7), (1, 7), (9, 7) as t (id, n)"
                others.append(threading.Thread(target=overwrite, args=(sql,)))
                others[0].start()
            else:
                # Wait for the other session: its last commit would overwrite the rows of this MERGE.
                others[0].join()
            return run(cursor, statement, *args)

        monkeypatch.setattr(SessionCursor, "_run", watched)
        yield merges
        ended.set()
        for other in others:
            other.join()

    @pytest.mark.parametrize("model", ["repeated", "reported"])
    def test_merge(self, project, rows, merges, model):
        run_dbt(["run", "--select", model])
        (result,) = run_dbt(["run", "--select", model], expect_pass=model == "repeated")
        kinds = [kind for (kind,) in rows(f"select commit_kind from {{schema}}.`{model}$snapshots`")]
        if model == "repeated":
            assert len(merges) > 1
            assert sorted(rows("select id, n from {schema}.repeated")) == [(0, 2), (1, 2), (2, 2), (9, 7)]
            assert kinds.count("OVERWRITE") >= 1
        else:
            assert len(merges) == 1
            assert "Another writer changed the table" in result.message
            assert "reported" in result.message
            assert sorted(rows("select id, n from {schema}.reported")) == [(0, 7), (1, 7), (9, 7)]

    @pytest.mark.parametrize("model", ["counted", "marked"])
    def test_rows_that_are_committed_are_not_written_again(self, project, rows, monkeypatch, model):
        """Paimon commits the rows. Then another writer prevents their compaction, without which `marked` hides them."""
        run_dbt(["run", "--select", model])
        run, inserts = SessionCursor._run, []

        def conflict(cursor, statement, *args):
            is_insert = "insert into" in statement and model in statement
            conf = cursor._session.conf
            if is_insert:
                conf.set("spark.paimon.write-only", "true")
            run(cursor, statement, *args)
            if is_insert:
                conf.unset("spark.paimon.write-only")
                inserts.append(statement)
                raise RuntimeError("LSM conflicts detected! Give up committing.")

        monkeypatch.setattr(SessionCursor, "_run", conflict)
        run_dbt(["run", "--select", model])
        assert len(inserts) == 1
        assert rows(f"select id, n from {{schema}}.{model}") == [(0, 2)]
