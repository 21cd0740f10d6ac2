"""Files that a long run leaves in target/: the blocks that are done, and the sequences that differed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from differential import draw
from differential.plan import Plan, to_json
from differential.run import Difference, Outcome


class State:
    """The blocks of one seed that ran without a difference, with their figures; stored only if a path is given."""

    def __init__(self, path: Path | None, seed: int) -> None:
        self._path, self._seed = path, str(seed)

    def figures(self, block: Sequence[object]) -> Counter[str] | None:
        """The figures of a block that is done, else None."""
        found = self._read().get(self._seed, {}).get(_name(block))
        return None if found is None else Counter(found)

    def done(self, block: Sequence[object], figures: Counter[str]) -> None:
        if self._path is None:
            return
        seeds = self._read()
        seeds.setdefault(self._seed, {})[_name(block)] = dict(figures)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(seeds, indent=1), encoding="utf-8")
        new.replace(self._path)

    def _read(self) -> dict[str, dict[str, dict[str, int]]]:
        if self._path is None or not self._path.exists():
            return {}
        read: dict[str, dict[str, dict[str, int]]] = json.loads(self._path.read_text(encoding="utf-8"))
        return read


def _name(block: Sequence[object]) -> str:
    return f"{block[0]}-{block[-1]}"


def save(folder: Path, plan: Plan, suffix: str = "") -> Path:
    """Write a plan to a file that can be copied to tests/differential/regressions."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{plan.family}_{plan.number}{suffix}.json"
    path.write_text(to_json(plan), encoding="utf-8")
    return path


def shrink(base: int, found: Difference, again: Callable[[Plan, int], Outcome]) -> Plan:
    """The smallest plan that differs in the same way; `again` runs a plan, given the number of the try."""
    tries = 0

    def fails(plan: Plan) -> bool:
        nonlocal tries
        tries += 1
        return any(other.kind == found.kind for other in again(plan, tries).differences)

    return draw.shrunk(base, found.plan.number, fails)
