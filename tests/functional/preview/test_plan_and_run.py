"""For each kind of change to a table, the next run does exactly what `dbt-paimon plan` printed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.tests.util import run_dbt

from dbt_paimon.cli import main

SECOND = ["--vars", "second: true"]
FIRST = "select 1 as id, 'a' as text, 10 as n"
ADDED = f"{FIRST}, 2 as fresh"
GONE = "select 1 as id, 'a' as text"
WIDER = "select 1 as id, 'a' as text, cast(10 as bigint) as n"
TEXT = "select 1 as id, 'a' as text, 'ten' as n"
KEPT = "snapshot_retention={'num_retained_max': 50}"
KEY = "primary_key='id'"
LOSES = "on_rebuild='drop_history'"
TABLES = {
    "same": ("", "", FIRST),
    "added": ("", "", ADDED),
    "gone": ("", "", GONE),
    "wider": ("", "", WIDER),
    "text": (LOSES, LOSES, TEXT),
    "option": ("", KEPT, FIRST),
    "no_option": (KEPT, "", FIRST),
    "option_and_columns": ("", KEPT, "select 1 as id, cast(10 as bigint) as n, 2 as fresh"),
    "described": ("", "persist_docs={'relation': true, 'columns': true}", FIRST),
    "key": (LOSES, f"{LOSES}, {KEY}", FIRST),
    "another_key": (f"{LOSES}, {KEY}", f"{LOSES}, primary_key=['id', 'text']", FIRST),
    "parts": (LOSES, f"{LOSES}, partition_by='text'", FIRST),
    "engine": (f"{LOSES}, {KEY}", f"{LOSES}, {KEY}, merge_engine='partial-update'", FIRST),
    "format": ("", "file_format='orc'", FIRST),
    "audited": (f"{KEY}, wap=true", f"{KEY}, wap=true, {KEPT}", ADDED),
    "was_a_view": ("materialized='view'", "materialized='table'", FIRST),
}
SKIPS = "skip_unchanged=true"
# Plain models, by query.
READERS = {
    "skipped": FIRST,
    "skipped_too": "select * from {{ ref('skipped') }}",
    "reads_a_written_table": "select id from {{ ref('same') }}",
    "reads_indirectly": "select id from {{ ref('of_same') }}",
}
MINE = """
{% macro get_incremental_mine_sql(arg_dict) %}
insert into {{ arg_dict['target_relation'] }} select * from {{ arg_dict['temp_relation'] }}
{% endmacro %}
"""
MODES = ("ignore", "append_new_columns", "sync_all_columns")
INCREMENTS = {
    **{
        f"by_{name}": (config, config, FIRST)
        for name, config in {
            "append": "incremental_strategy='append'",
            "upsert": KEY,
            "merge": f"{KEY}, incremental_strategy='merge'",
            "partial_update": f"{KEY}, merge_engine='partial-update', incremental_strategy='partial_update'",
            "delete_insert": f"{KEY}, incremental_strategy='delete+insert'",
            "mine": "incremental_strategy='mine'",
            "insert_overwrite": "partition_by='text', incremental_strategy='insert_overwrite'",
        }.items()
    },
    **{
        f"{name}_{mode}": (f"{KEY}, on_schema_change='{mode}'", f"{KEY}, on_schema_change='{mode}'", query)
        for mode in MODES
        for name, query in {"adds": ADDED, "widens": WIDER}.items()
    },
    "drops": (f"{KEY}, on_schema_change='sync_all_columns'",) * 2 + (GONE,),
    "set_option": (KEY, f"{KEY}, {KEPT}", FIRST),
    "reset_option": (f"{KEY}, {KEPT}", KEY, FIRST),
    "described_increment": (KEY, f"{KEY}, persist_docs={{'relation': true, 'columns': true}}", FIRST),
    "audited_increment": (f"{KEY}, wap=true, on_schema_change='append_new_columns'",) * 2 + (ADDED,),
    "refreshed": (KEY, f"{KEY}, full_refresh=true", ADDED),
    "refreshed_by_key": (KEY, "primary_key=['id', 'text'], full_refresh=true", FIRST),
}


def sql(materialized: str, first: str, second: str, query: str) -> str:
    def config(text: str) -> str:
        kind = "" if "materialized" in text else f"materialized='{materialized}', "
        return f"{{{{ config({kind}{text}) }}}}"

    return f"{{% if var('second', false) %}}{config(second)}{query}{{% else %}}{config(first)}{FIRST}{{% endif %}}"


class TestPlanAndRun:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        described = [
            {
                "name": name,
                "description": "of orders",
                "columns": [{"name": "text", "description": "what it says"}],
            }
            for name in ("described", "described_increment")
        ]
        return {
            **{f"{name}.sql": sql("table", *case) for name, case in TABLES.items()},
            **{f"{name}.sql": sql("incremental", *case) for name, case in INCREMENTS.items()},
            **{
                f"{name}.sql": f"{{{{ config(materialized='table', {SKIPS}) }}}} {query}"
                for name, query in READERS.items()
            },
            "of_same.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('same') }}",
            "described.yml": json.dumps({"models": described}),
            "history.yml": json.dumps(
                {
                    "snapshots": [
                        {
                            "name": "history",
                            "relation": "ref('same')",
                            "config": {"unique_key": "id", "strategy": "check", "check_cols": "all"},
                        }
                    ]
                }
            ),
        }

    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        return {"mine.sql": MINE}

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"planted.csv": "id\n1\n"}

    @pytest.fixture(scope="class")
    def plans(self, project: Any) -> dict[str, dict[str, Any]]:
        """The output of `dbt-paimon plan` after a first run, by node."""
        run_dbt(["build"])
        places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
        done = CliRunner().invoke(main, ["plan", "--output", "json", *places, *SECOND])
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return {line["unique_id"].rpartition(".")[2]: line for line in lines}

    def test_each_node(self, plans, plans_sent):
        plans_sent.plans.clear()
        plans_sent.runs.clear()
        run_dbt(["build", *SECOND], expect_pass=False)
        settled = {
            name: (str(plan.action), list(plan.alters), list(plan.rebuild.reasons))
            for name, plan in plans_sent.plans.items()
        }
        reused = {name: run.reused.response.reason for name, run in plans_sent.runs.items() if run.reused}
        settled |= {name: ("nothing", [], [reason]) for name, reason in reused.items()}
        printed = {
            name: (plan["does"], plan.get("alters", []), plan.get("reasons", []))
            for name, plan in plans.items()
            if plan["does"] != "fail"
        }
        assert settled == printed
        assert reused.keys() == {"skipped", "skipped_too"}
        steps = {
            name: [step.description for step in run.steps if step.description] for name, run in plans_sent.runs.items()
        }
        assert {name: plans[name].get("steps", []) for name in printed} == {name: steps[name] for name in printed}
        fail = {name for name, plan in plans.items() if plan["does"] == "fail"}
        assert fail == {"widens_ignore", "widens_append_new_columns"}
        assert len(plans) == len(TABLES) + len(INCREMENTS) + len(READERS) + 2
        assert {does for does, *_ in printed.values()} == {
            "create",
            "increment",
            "nothing",
            "rebuild in place",
            "rebuild as a new table",
        }
