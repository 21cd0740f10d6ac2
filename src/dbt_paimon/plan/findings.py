"""The result of `dbt-paimon plan` for one node, and its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from dbt.adapters.paimon.metadata.tags import History
from dbt.adapters.paimon.plan.steps import Action
from dbt.adapters.paimon.spark.scans import Scan


@dataclass(frozen=True)
class Preview:
    """What a run would do with one node.

    Attributes:
        kind: materialization, with the strategy of an incremental model.
        alters: options and columns that change.
        steps: steps of the write beside the rows.
        reasons: why a new table replaces the old one.
        lost: history that is lost with the old table.
        asks: whether the run refuses that loss without consent.
        scans: what the node's query reads.
        maintenance: actions after the commit.
    """

    unique_id: str
    name: str
    kind: str
    does: Action
    alters: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    lost: History | None = None
    asks: bool = False
    scans: tuple[Scan, ...] = ()
    maintenance: tuple[str, ...] = ()
    problem: str = ""

    @property
    def loses(self) -> bool:
        return self.lost is not None

    def lines(self) -> Iterator[str]:
        yield f"{self.name} ({self.kind}): {self.does}"
        for scan in self.scans:
            yield f"  reads {scan}"
        for change in self.alters:
            yield f"  alters {change}"
        for step in self.steps:
            yield f"  {step}"
        for reason in self.reasons:
            yield f"  because {reason}"
        if self.lost:
            yield f"  LOSES {self.lost}"
        if self.asks:
            yield "  and fails, unless it runs with --full-refresh or the config has on_rebuild: drop_history"
        for action in self.maintenance:
            yield f"  then {action}"
        for line in self.problem.strip().splitlines():
            yield f"  {line}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON, without empty values."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), "", False)}
