"""A project whose models all change with each step, and the rows that its tables should have after each step.

It has a model for each way in which the adapter writes: rebuilds (same columns, other columns, another primary key),
incremental strategies, a seed, a snapshot, a view, and a table with maintenance macros as hooks. `step` is a variable
of the run; steps count from 1, and a step may run again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from faults import house
from faults.house import Command, Row, State

IDS = 300
VERSIONED = 40
DAYS = ("2026-01-01", "2026-01-02")
SCHEMA = "faults"

MODELS = {
    "rebuilt": "{{ config(materialized='table') }} select id, {{ var('step') }} as step from range(<ids>)",
    "rebuilt_columns": """{{ config(materialized='table') }}
select id, {{ var('step') }} as {{ 'even' if var('step') % 2 == 0 else 'odd' }} from range(<ids>)""",
    "rebuilt_key": """{{ config(materialized='table', primary_key=['id'] if var('step') % 2 == 0 else ['id', 'step']) }}
select id, {{ var('step') }} as step from range(<ids>)""",
    # Appending twice would duplicate rows, so the model selects only new ones, as a user's would.
    "appended": """{{ config(materialized='incremental', incremental_strategy='append') }}
select id, {{ var('step') }} as step from range(<ids>)
{% if is_incremental() %} where {{ var('step') }} > (select max(step) from {{ this }}) {% endif %}""",
    "upserted": """{{ config(materialized='incremental', primary_key='id', bucket=2) }}
select id, {{ var('step') }} as step from range(<ids>) where {{ part_of_the_ids() }}""",
    "merged": """{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select id, {{ var('step') }} as step from range(<ids>) where {{ part_of_the_ids() }}""",
    "filled": """{{ config(
    materialized='incremental', incremental_strategy='partial_update', primary_key='id', merge_engine='partial-update'
) }}
{% if is_incremental() %}
select id, {{ var('step') }} as {{ 'even' if var('step') % 2 == 0 else 'odd' }} from range(<ids>) where {{ part_of_the_ids() }}
{% else %}
select id, cast(null as int) as even, {{ var('step') }} as odd from range(<ids>)
{% endif %}""",
    "overwritten": """{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='part') }}
select id, {{ var('step') }} as step, part from range(<ids>) cross join {{ parts() }}""",
    "replaced": """{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='part') }}
select id, {{ var('step') }} as step, part from range(<ids>) cross join {{ parts() }}""",
    "batched": """{{ config(
    materialized='incremental', incremental_strategy='microbatch', event_time='at', batch_size='day', begin='2026-01-01',
    primary_key='id'
) }}
select * from {{ ref('events') }}""",
    "events": """{{ config(materialized='view', event_time='at') }}
select id, {{ var('step') }} as step, timestampadd(day, cast(id % 2 as int), timestamp '2026-01-01 06:00:00') as at
from range(<ids>)""",
    "versions": "{{ config(materialized='view') }} select id, {{ var('step') }} as step from range(<versioned>)",
    "maintained": """{{ config(
    materialized='incremental', primary_key='id', bucket=2,
    post_hook=[
        "{{ compact(this) }}",
        "{{ create_tag(this, 't' ~ invocation_id.replace('-', '')) }}",
        "{{ delete_tag(this, 't' ~ invocation_id.replace('-', '')) }}",
        "{{ expire_snapshots(this, retain_max=3, retain_min=1, older_than='2100-01-01 00:00:00') }}",
        "{{ remove_orphan_files(this, dry_run=false) }}",
    ]
) }}
select id, {{ var('step') }} as step from range(<ids>) where {{ part_of_the_ids() }}""",
}
SNAPSHOT = """
snapshots:
  - name: history
    relation: ref('versions')
    config: {unique_key: id, strategy: check, check_cols: [step]}
"""
MACROS = """
{% macro part_of_the_ids() %}
  {%- if is_incremental() -%} (id + {{ var('step') }}) % 3 = 0 {%- else -%} true {%- endif -%}
{% endmacro %}
{% macro parts() %}
  {%- if is_incremental() -%} (select {{ var('step') % 3 }} as part)
  {%- else -%} (select explode(array(0, 1, 2)) as part)
  {%- endif -%}
{% endmacro %}
"""


def write_project(folder: Path, target: dict[str, Any]) -> None:
    """Write the project, its profile and an empty warehouse to a folder."""
    models = {
        f"{name}.sql": sql.replace("<ids>", str(IDS)).replace("<versioned>", str(VERSIONED))
        for name, sql in MODELS.items()
    }
    # Allows table swaps, so that some kills hit them.
    house.write_project(folder, SCHEMA, {"here": target}, models, {"models": {"+on_rebuild": "drop_history"}})
    for part in ("macros", "seeds", "snapshots"):
        (folder / part).mkdir()
    (folder / "macros" / "macros.sql").write_text(MACROS)
    (folder / "snapshots" / "history.yml").write_text(SNAPSHOT)


def write_step(folder: Path, step: int) -> None:
    """Write the step's seed."""
    lines = ["id,step", *(f"{number},{step}" for number in range(IDS))]
    (folder / "seeds" / "planted.csv").write_text("\n".join(lines) + "\n")


def variables(step: int, times: Mapping[str, int]) -> dict[str, Any]:
    """The variables of a run."""
    return {"step": step}


COMMANDS = {
    "build": Command(lambda step, times: ("build", "--event-time-start", DAYS[0], "--event-time-end", "2026-01-03"))
}


def _all_of(step: int) -> Iterable[Row]:
    return ((number, step) for number in range(IDS))


def _by_key(step: int) -> dict[int, int]:
    rows = dict(_all_of(1))
    for past in range(2, step + 1):
        rows |= {number: past for number in rows if (number + past) % 3 == 0}
    return rows


def _filled(step: int) -> Iterable[Row]:
    rows: dict[int, list[Any]] = {number: [None, 1] for number in range(IDS)}
    for past in range(2, step + 1):
        for number, values in rows.items():
            if (number + past) % 3 == 0:
                values[past % 2] = past
    return ((number, *values) for number, values in rows.items())


def _by_part(step: int) -> Iterable[Row]:
    parts = dict.fromkeys((0, 1, 2), 1) | {past % 3: past for past in range(max(2, step - 2), step + 1)}
    return ((number, past, part) for part, past in parts.items() for number in range(IDS))


def _history(step: int) -> Iterable[Row]:
    return ((number, past, past == step) for past in range(1, step + 1) for number in range(VERSIONED))


def _one_column(rows: list[Row]) -> list[Row] | None:
    """A table's rows after ALTER TABLE but before its commit, without the added or dropped column (all NULL)."""
    if not rows or len(rows[0]) != 3:
        return None
    values = {tuple(value is None for value in row) for row in rows}
    return [(row[0], row[1] if row[2] is None else row[2]) for row in rows] if len(values) == 1 else None


STATES = {
    "rebuilt": State("select * from {s}.rebuilt", _all_of),
    "rebuilt_columns": State("select * from {s}.rebuilt_columns", _all_of, merged=_one_column),
    "rebuilt_key": State("select * from {s}.rebuilt_key", _all_of),
    "appended": State(
        "select * from {s}.appended",
        lambda step: (row for past in range(1, step + 1) for row in _all_of(past)),
    ),
    "upserted": State("select * from {s}.upserted", lambda step: _by_key(step).items()),
    "merged": State("select * from {s}.merged", lambda step: _by_key(step).items()),
    "filled": State("select id, even, odd from {s}.filled", _filled),
    "overwritten": State("select id, step, part from {s}.overwritten", _by_part),
    "replaced": State("select id, step, part from {s}.replaced", _by_part),
    "planted": State("select * from {s}.planted", _all_of),
    "history": State("select id, step, dbt_valid_to is null from {s}.history", _history),
    "maintained": State("select * from {s}.maintained", lambda step: _by_key(step).items()),
    # Each batch is one commit, so each day is complete.
    **{
        f"batched {day}": State(
            f"select id, step from {{s}}.batched where to_date(at) = date '{day}'",
            lambda step, rest=number: (row for row in _all_of(step) if row[0] % 2 == rest),
        )
        for number, day in enumerate(DAYS)
    },
}
OTHERS = frozenset({"_dbt_views"})
WITHOUT_BRANCHES: frozenset[str] = frozenset()
