"""The options of a run of the benchmarks."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.report import Report

_STARTED = time.monotonic()


@dataclass(frozen=True)
class Options:
    """Sizes in rows, and numbers of repetitions; the defaults are those of a full run."""

    scratch: Path
    bases: Sequence[int] = (200_000, 1_000_000, 4_000_000)
    batch_sizes: Sequence[int] = (2_000, 20_000)
    batches: int = 16
    rounds: int = 7
    models: int = 100
    contestants: Sequence[str] = field(default_factory=tuple)
    quick: bool = False
    # The folder of the reports; with `resume`, an existing report of the same code is not made again.
    results: Path = Path()
    resume: bool = False

    def takes_part(self, name: str) -> bool:
        """Whether a contestant is selected; without a selection, all of them are."""
        return not self.contestants or any(part.lower() in name.lower() for part in self.contestants)

    def kept(self, name: str, conditions: Mapping[str, Any]) -> Report | None:
        """The existing report, if it need not be made again (see `resume`); else None."""
        return Report.load(self.results, name, conditions) if self.resume else None

    @staticmethod
    def say(text: str) -> None:
        """Log the progress to stderr."""
        print(f"[{time.monotonic() - _STARTED:6.0f} s] {text}", file=sys.stderr, flush=True)
