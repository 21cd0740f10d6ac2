"""What `dbt-paimon plan` finds out about one node, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from dbt.adapters.paimon.plan.steps import Action
from dbt.adapters.paimon.spark.scans import Scan
from dbt.adapters.paimon.tables.rebuilds import History


@dataclass(frozen=True)
class Preview:
    """What a run would do with one node.

    Attributes:
        unique_id: the node in the manifest.
        name: schema and name of its relation.
        kind: its materialization, and the strategy of an incremental model.
        does: what the run would do.
        alters: options and columns that it would change.
        steps: how it would write, in words, where there is more than the rows.
        reasons: why a new table would replace the old one.
        lost: the history that would be lost with the old one.
        asks: whether the run refuses that unless it is asked to.
        scans: what the node's query would read.
        maintenance: what would run after the commit.
        problem: why the node would fail, or why nothing is known.
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
        """Whether the run would lose history."""
        return self.lost is not None

    def lines(self) -> Iterator[str]:
        """The text of the console: what the run does, and then what it reads, alters, loses and maintains."""
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
        """All of it, for JSON; what is empty or not known is left out."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), "", False)}
