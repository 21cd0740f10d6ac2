"""A project with a table per merge engine, bucket mode and changelog producer, all written alike at each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from faults.house import Command, Row, State

SCHEMA = "layouts"
IDS = 40
OTHERS: frozenset[str] = frozenset()
WITHOUT_BRANCHES: frozenset[str] = frozenset()
COMMANDS = {"build": Command(lambda step, times: ("build",))}

_ROWS = "select id, {{ var('step') }} as step, id % 2 as part from range(<ids>)"
_UPSERT = "materialized='incremental', incremental_strategy='upsert', "
_ENGINES = {
    "deduplicate": "primary_key='id', bucket=2",
    "partial": "primary_key='id', bucket=2, merge_engine='partial-update'",
    "summed": "primary_key='id', bucket=2, merge_engine='aggregation', "
    "tblproperties={'fields.step.aggregate-function': 'sum', 'fields.part.aggregate-function': 'last_value'}",
    "first": "primary_key='id', bucket=2, merge_engine='first-row', changelog_producer='lookup'",
    "sequenced": "primary_key='id', bucket=2, sequence_field='step'",
    "dynamic": "primary_key='id', bucket=-1",
    "dynamic_parts": "primary_key=['part', 'id'], partition_by='part', bucket=-1",
    "across_parts": "primary_key='id', partition_by='part', bucket=-1",
    "fixed_parts": "primary_key=['part', 'id'], partition_by='part', bucket=2",
    "log_input": "primary_key='id', bucket=1, changelog_producer='input'",
    "log_lookup": "primary_key='id', bucket=1, changelog_producer='lookup'",
    "log_full": "primary_key='id', bucket=1, changelog_producer='full-compaction'",
    "deletion_vectors": "primary_key='id', bucket=1, deletion_vectors=true",
    "orc": "primary_key='id', bucket=1, file_format='orc'",
    "avro": "primary_key='id', bucket=1, file_format='avro'",
}
_APPENDED = {
    "append": "materialized='incremental', incremental_strategy='append'",
    "append_fixed": "materialized='incremental', incremental_strategy='append', bucket=2, bucket_key='id'",
    "append_parts": "materialized='incremental', incremental_strategy='append', partition_by='part'",
}


def write_project(folder: Path, target: dict[str, Any]) -> None:
    """Write the project, its profile and an empty warehouse into a folder."""
    for part in ("models", "lake"):
        (folder / part).mkdir(parents=True)
    project = {"name": "layouts", "profile": "layouts", "flags": {"send_anonymous_usage_stats": False}}
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
    outputs = {"here": target | {"schema": SCHEMA, "warehouse": str(folder / "lake")}}
    (folder / "profiles.yml").write_text(yaml.safe_dump({"layouts": {"target": "here", "outputs": outputs}}))
    configs = {name: _UPSERT + config for name, config in _ENGINES.items()} | _APPENDED
    for name, config in configs.items():
        (folder / "models" / f"{name}.sql").write_text(f"{{{{ config({config}) }}}} {_ROWS}".replace("<ids>", str(IDS)))


def write_step(folder: Path, step: int) -> None:
    """Do nothing: the models get the step from a variable."""


def variables(step: int, times: Mapping[str, int]) -> dict[str, Any]:
    """The variables of a run."""
    return {"step": step}


def _all_of(step: int) -> Iterable[Row]:
    return ((number, step, number % 2) for number in range(IDS))


def _rows_of(name: str) -> Callable[[int], Iterable[Row]]:
    if name == "summed":
        return lambda step: _all_of(step * (step + 1) // 2)
    if name == "first":
        return lambda step: _all_of(1)
    if name in _APPENDED:
        return lambda step: (row for past in range(1, step + 1) for row in _all_of(past))
    return _all_of


STATES = {name: State(f"select id, step, part from {{s}}.{name}", _rows_of(name)) for name in (*_ENGINES, *_APPENDED)}
