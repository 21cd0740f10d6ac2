"""The second project whose runs are killed: changes, audits, Python, a stream, and commands besides `build`.

`fed` gets rows once per step, however often the step runs. Downstream models read its changes, so they show a lost or
duplicate row. See lakehouse.py for the first project.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from faults import house
from faults.house import Command, Point, Row, State, at

SCHEMA = "further"
COPIES = "further_copies"
IDS = 60

NEW = """{% if is_incremental() %}
where (id + {{ var('step') }}) % 3 = 0 and {{ var('step') }} > (select max(step) from {{ this }})
{% endif %}"""
MODELS = {
    "fed.sql": """{{ config(materialized='incremental', primary_key='id', bucket=1) }}
select id, {{ var('step') }} as step, timestampadd(day, {{ var('step') }}, timestamp '2026-01-01') as at
from range(<ids>) """
    + NEW,
    # Four consumers of one table, each with its own position.
    "logged.sql": """{{ config(materialized='incremental', incremental_strategy='append') }}
select id, step from {{ paimon_changes(ref('fed'), keep=true) }}""",
    "summed.sql": """{{ config(
    materialized='incremental', primary_key='id', bucket=1, merge_engine='aggregation',
    fields={'total': {'aggregate_function': 'sum'}, 'n': {'aggregate_function': 'sum'}}
) }}
select id, sum(if(_row_kind in ('-U', '-D'), -step, step)) as total, count(if(_row_kind in ('+I', '+U'), 1, null)) as n
from {{ paimon_changes(ref('fed'), before=true) }} group by id""",
    "applied.sql": """{{ config(
    materialized='incremental', incremental_strategy='apply_changes', primary_key='id', bucket=1,
    rowkind_field='_row_kind', sequence_field='read_to'
) }}
select id, step, if((id + step) % 9 = 0, '-D', _row_kind) as _row_kind, read_to
from {{ paimon_changes(ref('fed'), snapshot_column='read_to') }}""",
    "versions.sql": """{{ config(materialized='incremental', primary_key=['id', 'valid_from'], bucket=1) }}
{{ scd2(paimon_changes(ref('fed')), key='id', columns=['step'], valid_from='at') }}""",
    "audited.sql": """{{ config(materialized='table', primary_key='id', bucket=1, wap=true) }}
select id, {{ var('step') }} as step from range(<ids>)""",
    "audited_increment.sql": """{{ config(materialized='incremental', primary_key='id', bucket=1, wap=true) }}
select id, {{ var('step') }} as step from range(<ids>) {% if is_incremental() %} where (id + {{ var('step') }}) % 3 = 0 {% endif %}""",
    "told.py": """
def model(dbt, session):
    dbt.config(materialized='table')
    return session.range(<ids>).selectExpr("id", f"{dbt.config.get('step')} as step")
""",
    "told_increment.py": """
def model(dbt, session):
    dbt.config(materialized='incremental', primary_key='id', bucket=1)
    step = dbt.config.get('step')
    rows = session.range(<ids>).selectExpr("id", f"{step} as step")
    return rows.where(f"(id + {step}) % 3 = 0") if dbt.is_incremental else rows
""",
    "added.sql": """{{ config(materialized='incremental', incremental_strategy='append') }}
select id, {{ var('step') }} as step from range(<ids>)
{% if is_incremental() %} where {{ var('step') }} > (select max(step) from {{ this }}) {% endif %}""",
    "streamed.sql": """{{ config(materialized='streaming') }}
select id, step from {{ stream(ref('added')) }}""",
    "kept.sql": """{{ config(
    materialized='incremental', primary_key='id', bucket=1, tblproperties={'write-only': true},
    maintenance={
        'compact': {'small_files': 2, 'after_run': false}, 'expire_snapshots': {'retain_max': 1, 'after_run': false},
        'remove_orphan_files': true
    }
) }}
select id, {{ var('step') }} as step from range(<ids>)""",
    "rescaled.sql": """{{ config(materialized='incremental', primary_key='id', bucket=var('buckets')) }}
select id, {{ var('step') }} as step from range(<ids>)""",
    # Changes only when its branch is fast-forwarded.
    "forwarded.sql": """{{ config(materialized='incremental', incremental_strategy='append') }}
select id, {{ var('step') }} as step from range(<ids>) {% if is_incremental() %} where false {% endif %}""",
    "models.yml": """
models:
  - name: told
    config: {step: "{{ var('step') }}"}
  - name: told_increment
    config: {step: "{{ var('step') }}"}
  - name: audited
    columns: [{name: step, data_tests: [{passes: {config: {severity: error}}}]}]
  - name: audited_increment
    columns: [{name: id, data_tests: [not_null]}]
""",
}
MACROS = """
{% test passes(model, column_name) %} select 1 as one where {{ var('refused') }} {% endtest %}

{% macro branch_off() %}
  {% set table = ref('forwarded') %}
  {% for (name,) in run_query("select branch_name from " ~ branches_of(table)).rows %}
    {% do delete_branch(table, name) %}
  {% endfor %}
  {% for (name,) in run_query("select tag_name from " ~ tags_of(table)).rows %}
    {% do delete_tag(table, name) %}
  {% endfor %}
  {% do create_tag(table, 'base') %}
  {% do create_branch(table, 'next', tag='base') %}
  {% do run_query(
    "insert overwrite " ~ table | replace('`forwarded`', '`forwarded$branch_next`')
    ~ " select id, " ~ var('step') ~ " as step from range(<ids>)"
  ) %}
{% endmacro %}
"""


def write_project(folder: Path, target: dict[str, Any]) -> None:
    """Write the project, its profile and an empty warehouse to a folder."""
    models = {name: text.replace("<ids>", str(IDS)) for name, text in MODELS.items()}
    outputs = {"here": target, "copies": target | {"schema": COPIES}}
    # Allows table swaps, so that some kills hit them.
    house.write_project(folder, SCHEMA, outputs, models, {"models": {"+on_rebuild": "drop_history"}})
    (folder / "macros").mkdir()
    (folder / "macros" / "macros.sql").write_text(MACROS.replace("<ids>", str(IDS)))


def write_step(folder: Path, step: int) -> None:
    """Nothing to write: the models get the step only as a variable."""


def variables(step: int, times: Mapping[str, int]) -> dict[str, Any]:
    """The variables of a run."""
    return {"step": step, "buckets": _buckets(times["rescale"]), "refused": False}


def _buckets(times: int) -> int:
    return 1 + times % 2


def _operation(name: str, **arguments: Any) -> tuple[str, ...]:
    return ("run-operation", name, "--args", yaml.safe_dump(arguments, default_flow_style=True).strip())


COMMANDS = {
    "build": Command(lambda step, times: ("build",)),
    "clone": Command(
        lambda step, times: (
            *("clone", "--target", "copies", "--full-refresh", "--select", "fed"),
            *("--state", "<folder>/target", "--target-path", "<folder>/target_of_copies"),
        )
    ),
    "maintain": Command(lambda step, times: _operation("maintain", select="kept", force=True)),
    "rescale": Command(lambda step, times: _operation("rescale", relation="rescaled", bucket_num=_buckets(times + 1))),
    "fast_forward": Command(
        lambda step, times: _operation("fast_forward", relation="forwarded", branch="next"),
        prepare=lambda step, times: (("run-operation", "branch_off"),),
    ),
    # Publishes rows that failed their audit. After a kill, a user would run `build`.
    "publish": Command(
        lambda step, times: _operation("publish", relation="audited"),
        prepare=lambda step, times: (("run", "--select", "audited", "--refused"),),
        heal="build",
        needs_build=False,
    ),
}


def _all_of(step: int) -> Iterable[Row]:
    return ((number, step) for number in range(IDS))


def _changes(step: int) -> Iterable[Row]:
    """Each row that `fed` ever got."""
    yield from _all_of(1)
    for past in range(2, step + 1):
        yield from ((number, past) for number in range(IDS) if (number + past) % 3 == 0)


def _by_key(step: int) -> dict[int, int]:
    return dict(_changes(step))


def _summed(step: int) -> Iterable[Row]:
    times: dict[int, int] = {}
    for number, _ in _changes(step):
        times[number] = times.get(number, 0) + 1
    return ((number, last, times[number]) for number, last in _by_key(step).items())


def _applied(step: int) -> Iterable[Row]:
    return ((number, last) for number, last in _by_key(step).items() if (number + last) % 9)


def _versions(step: int) -> Iterable[Row]:
    last = _by_key(step)
    return ((number, past, past == last[number]) for number, past in _changes(step))


STATES = {
    "fed": State("select id, step from {s}.fed", lambda step: _by_key(step).items()),
    "logged": State("select id, step from {s}.logged", _changes),
    "summed": State("select id, total, n from {s}.summed", _summed),
    "applied": State("select id, step from {s}.applied", _applied),
    "versions": State("select id, step, is_current and valid_to is null from {s}.versions", _versions),
    "audited": State("select id, step from {s}.audited", _all_of),
    "audited_increment": State("select id, step from {s}.audited_increment", lambda step: _by_key(step).items()),
    "told": State("select id, step from {s}.told", _all_of),
    "told_increment": State("select id, step from {s}.told_increment", lambda step: _by_key(step).items()),
    "added": State(
        "select id, step from {s}.added",
        lambda step: (row for past in range(1, step + 1) for row in _all_of(past)),
    ),
    "streamed": State(
        "select id, step from {s}.streamed",
        lambda step: (row for past in range(1, step + 1) for row in _all_of(past)),
    ),
    "kept": State("select id, step from {s}.kept", _all_of),
    "rescaled": State("select id, step from {s}.rescaled", _all_of),
    "forwarded": State("select id, step from {s}.forwarded", _all_of, command="fast_forward"),
    "fed (its clone)": State(
        "select id, step from `paimon`.further_copies.fed",
        lambda step: _by_key(step).items(),
        command="clone",
    ),
}
WITHOUT_BRANCHES = frozenset({"audited", "audited_increment"})
OTHERS = frozenset(
    {
        "logged__dbt_changes",
        "summed__dbt_changes",
        "applied__dbt_changes",
        "applied__dbt_deletes",
        "versions__dbt_changes",
    }
)


def _moments(table: str, *moments: str) -> list[Point]:
    return [{"table": table, "moment": moment} for moment in moments]


def _during(table: str, statement: str, *delays: float, **more: Any) -> list[Point]:
    return [{"table": table, "statement": statement, "when": "during", "delay": delay} | more for delay in delays]


# Before and from Paimon 1.4.
REWRITE = r"insert overwrite|sys\.rescale"
# One point of each kind first, so that a few kills cover every feature.
POINTS: list[Point] = [
    *at("logged", "insert into .*logged`")[:1],
    *_moments("streamed", "after"),
    *at("audited", "insert overwrite .*audited`")[:1],
    *at("audited", "insert overwrite .*audited`", command="publish")[:1],
    *at("forwarded", "sys.fast_forward", command="fast_forward")[:1],
    *at("rescaled", REWRITE, command="rescale")[1:],
    *at("fed", "rename to|insert", command="clone")[:1],
    *at("kept", "sys.compact", command="maintain")[:1],
    *at("versions", "insert into .*versions`")[:1],
    *at("applied", "insert into .*applied`")[:1],
    *at("told", "insert overwrite .*told`")[:1],
    *at("summed", "insert into .*summed`")[:1],
    *at("summed", "__dbt_changes"),
    *at("logged", "__dbt_changes"),
    *at("fed", "sys.create_tag"),
    *at("fed", "sys.delete_tag"),
    *at("logged", "insert into .*logged`")[1:],
    *at("summed", "insert into .*summed`")[1:],
    *_moments("streamed", "planned", "begun", "before"),
    *at("audited", "sys.create_branch"),
    *at("audited", "insert overwrite .*branch"),
    *at("audited_increment", "insert into .*branch"),
    *at("audited", "sys.delete_branch"),
    *at("audited", "sys.delete_branch", command="publish"),
    *at("audited", "insert overwrite .*audited`", command="publish")[1:],
    *at("audited_increment", "sys.create_tag"),
    *at("audited_increment", "sys.delete_tag"),
    *at("audited_increment", "sys.delete_branch"),
    *_during("forwarded", "sys.fast_forward", 0.02, 0.1, 0.3, command="fast_forward"),
    *at("forwarded", "sys.fast_forward", command="fast_forward")[1:],
    *at("rescaled", REWRITE, command="rescale")[:1],
    *at("rescaled", "alter table", command="rescale"),
    *at("fed", "create table", command="clone"),
    *at("fed", "insert", command="clone"),
    *at("kept", "sys.expire_snapshots", command="maintain"),
    *at("kept", "sys.remove_orphan_files", command="maintain"),
    *at("kept", "sys.compact", command="maintain")[1:],
    *_during("kept", "sys.expire_snapshots", 0.05, 0.3, command="maintain"),
    *at("versions", "insert into .*versions`")[1:],
    *at("applied", "insert into .*applied`")[1:],
    *at("told", "insert overwrite .*told`")[1:],
    *at("told_increment", "insert into"),
]
