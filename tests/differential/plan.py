"""The plan of a sequence of runs, as JSON: a model, its query's rows in each step, what happens between runs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

# See conditions.py.
Condition = list[Any]


@dataclass(frozen=True)
class Batch:
    """What the model's query returns in a step."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Operation:
    """A maintenance macro or a delete, between two runs."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """A run, and what happens after it.

    `window` is the time range of a microbatch run. `consumers` lists, by number, the consumers that also run.
    `traits` has a letter (see draw_*.py) for each known defect that the step may meet. `empty` means a run with
    --empty. `filters` are conditions with which the table is read after the run.
    """

    batch: Batch
    full_refresh: bool = False
    window: tuple[str, str] | None = None
    operations: tuple[Operation, ...] = ()
    consumers: tuple[int, ...] = ()
    traits: str = ""
    empty: bool = False
    filters: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A sequence; `config` is that of its dbt model (or snapshot)."""

    number: int
    family: str
    zone: str
    config: dict[str, Any]
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        return f"seq_{self.number}"

    @property
    def crosses_partitions(self) -> bool:
        """Whether a key may move between partitions: it lacks a partition column, and the buckets are dynamic."""
        key, parts = ({name.lower() for name in self.columns_of(of)} for of in ("primary_key", "partition_by"))
        return bool(key and parts - key and self.config.get("bucket", -1) == -1)

    @property
    def is_snapshot(self) -> bool:
        """Whether the sequence is of a dbt snapshot, not of a model."""
        return self.family.startswith("snapshot")

    @property
    def reads_source(self) -> bool:
        """Whether its model reads a source, which dbt limits to a batch, or to no rows with --empty."""
        return self.family == "microbatch" or any(step.empty for step in self.steps)

    @property
    def consumers(self) -> tuple[int, ...]:
        """The numbers of the models that read the changes of its table."""
        return {"changes": (1, 2), "removals": (1,)}.get(self.family, ())

    def consumer(self, number: int) -> str:
        return f"{self.name}_consumer_{number}"

    def columns_of(self, key: str) -> tuple[str, ...]:
        """The columns in a config key, which has one column or a list."""
        value = self.config.get(key) or ()
        return (value,) if isinstance(value, str) else tuple(value)


def to_json(plan: Plan) -> str:
    """A plan as readable JSON, with one line per row."""
    data = asdict(plan)
    marks: list[str] = []
    for step in data["steps"]:
        for key in ("columns", "rows"):
            lines = []
            for item in step["batch"][key]:
                marks.append(json.dumps(item, ensure_ascii=False))
                lines.append(f"@{len(marks) - 1}@")
            step["batch"][key] = lines
    text = json.dumps(data, indent=1, ensure_ascii=False)
    for number, mark in enumerate(marks):
        text = text.replace(f'"@{number}@"', mark, 1)
    return text + "\n"


def from_json(text: str) -> Plan:
    """The plan that `to_json` has written."""
    data = json.loads(text)
    steps = tuple(
        Step(
            Batch(
                tuple((name, kind) for name, kind in step["batch"]["columns"]),
                tuple(tuple(row) for row in step["batch"]["rows"]),
            ),
            step.get("full_refresh", False),
            tuple(step["window"]) if step.get("window") else None,
            tuple(Operation(item["name"], item["arguments"]) for item in step.get("operations", ())),
            tuple(step.get("consumers", ())),
            step.get("traits", ""),
            step.get("empty", False),
            tuple(step.get("filters", ())),
        )
        for step in data.pop("steps")
    )
    return Plan(**data, steps=steps)


def load(path: Path) -> Plan:
    return from_json(path.read_text(encoding="utf-8"))
