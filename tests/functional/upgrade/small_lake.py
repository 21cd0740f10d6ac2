"""A small project with every kind of state that the adapter keeps, and the expected rows after each step.

The fixture `lake-0.1.0.tar.gz` is its warehouse after two steps with commit 905dd9b (see `write_fixture.py`). A step
adds rows to `fed` only once, even if it runs again: in models that read changes, a lost or repeated row is visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from faults.house import Command, Row, State

SCHEMA = "small"
IDS = 12
# The number of steps in the fixture, run with commit 905dd9b.
OLD_STEPS = 2

_NEW = """{% if is_incremental() %}
where (id + {{ var('step') }}) % 3 = 0 and {{ var('step') }} > (select max(step) from {{ this }})
{% endif %}"""
MODELS = {
    "fed.sql": "{{ config(materialized='incremental', primary_key='id', bucket=1) }}\n"
    "select id, {{ var('step') }} as step from range(<ids>) " + _NEW,
    "logged.sql": """{{ config(materialized='incremental', incremental_strategy='append') }}
select id, step, _row_kind from {{ paimon_changes(ref('fed')) }}""",
    # The positions of `marked` are only in its commits: the fixture has no positions table for it.
    "marked.sql": """{{ config(materialized='incremental', incremental_strategy='append') }}
select id, step from {{ paimon_changes(ref('fed')) }}""",
    "applied.sql": """{{ config(
    materialized='incremental', incremental_strategy='apply_changes', primary_key='id', bucket=1,
    rowkind_field='_row_kind', sequence_field='read_to'
) }}
select id, step, if((id + step) % 9 = 0, '-D', _row_kind) as _row_kind, read_to
from {{ paimon_changes(ref('fed'), snapshot_column='read_to') }}""",
    "added.sql": """{{ config(materialized='incremental', incremental_strategy='append') }}
select id, {{ var('step') }} as step from range(<ids>)
{% if is_incremental() %} where {{ var('step') }} > (select max(step) from {{ this }}) {% endif %}""",
    "streamed.sql": """{{ config(materialized='streaming') }}
select id, step from {{ stream(ref('added')) }}""",
    "seen.sql": "{{ config(materialized='view') }} select id, step from {{ ref('fed') }} where id < 6",
    "seen_again.sql": "{{ config(materialized='table') }} select id, step from {{ ref('seen') }}",
}
SNAPSHOT = """
snapshots:
  - name: history
    relation: ref('fed')
    config: {unique_key: id, strategy: check, check_cols: [step]}
"""
OTHERS = frozenset(
    {
        "_dbt_views",
        "logged__dbt_changes",
        "marked__dbt_changes",
        "applied__dbt_changes",
        "applied__dbt_deletes",
    }
)
WITHOUT_BRANCHES: frozenset[str] = frozenset()
COMMANDS = {"build": Command(lambda step, times: ("build",))}


def write_project(folder: Path, target: dict[str, Any]) -> None:
    """Write the project and its profile into a folder. An existing warehouse `lake` stays as it is."""
    for part in ("models", "snapshots", "lake"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    project = {"name": "small", "profile": "small", "flags": {"send_anonymous_usage_stats": False}}
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
    outputs = {"here": target | {"schema": SCHEMA, "warehouse": str(folder / "lake")}}
    (folder / "profiles.yml").write_text(yaml.safe_dump({"small": {"target": "here", "outputs": outputs}}))
    for name, sql in MODELS.items():
        (folder / "models" / name).write_text(sql.replace("<ids>", str(IDS)))
    (folder / "snapshots" / "history.yml").write_text(SNAPSHOT)


def write_step(folder: Path, step: int) -> None:
    """Nothing to write: the models get the step from a variable."""


def variables(step: int, times: Mapping[str, int]) -> dict[str, Any]:
    """The variables of a run."""
    return {"step": step}


def _written(step: int) -> Iterable[Row]:
    """The rows that the steps wrote into `fed`, in order."""
    for past in range(1, step + 1):
        yield from ((number, past) for number in range(IDS) if past == 1 or (number + past) % 3 == 0)


def _fed(step: int) -> Iterable[Row]:
    return dict(_written(step)).items()


def _logged(step: int) -> Iterable[Row]:
    return ((number, past, "+I" if past == 1 else "+U") for number, past in _written(step))


STATES = {
    "fed": State("select id, step from {s}.fed", _fed),
    "logged": State("select id, step, if(_row_kind = '+I' and step > 1, '+U', _row_kind) from {s}.logged", _logged),
    "marked": State("select id, step from {s}.marked", _written),
    "applied": State(
        "select id, step from {s}.applied",
        lambda step: ((number, past) for number, past in _fed(step) if (number + past) % 9),
    ),
    "added": State(
        "select id, step from {s}.added",
        lambda step: ((number, past) for past in range(1, step + 1) for number in range(IDS)),
    ),
    "streamed": State(
        "select id, step from {s}.streamed",
        lambda step: ((number, past) for past in range(1, step + 1) for number in range(IDS)),
    ),
    "seen_again": State(
        "select id, step from {s}.seen_again",
        lambda step: ((number, past) for number, past in _fed(step) if number < 6),
    ),
    "history": State("select id, step from {s}.history", _written),
    "history (current)": State("select id, step from {s}.history where dbt_valid_to is null", _fed),
}
