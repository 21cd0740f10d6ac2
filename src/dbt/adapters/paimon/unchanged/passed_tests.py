"""A file in the project's target folder with the passed data tests and their keys.

Each pass is a line of JSON; the last line of a test counts. A line truncated by a crash is ignored. Without the file
(after `dbt clean`), all tests run.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

from dbt.adapters.paimon.unchanged.keys import Key

FILE: Final = "paimon_passed_tests.jsonl"


@dataclass(frozen=True)
class Pass:
    """A pass of a test: its unique id, its key (see `keys`), and its time in UTC."""

    test: str
    node: str
    inputs: str
    at: str

    @classmethod
    def of(cls, test: str, key: Key) -> Pass:
        """Create a pass with the current time."""
        now = datetime.now(timezone.utc).isoformat(sep=" ", timespec="seconds")
        return cls(test, key.node, key.inputs, now)

    @property
    def key(self) -> Key:
        return Key(self.node, self.inputs)


class PassedTestsCache:
    """The passed tests of a project, stored in its target folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()
        self._passes: dict[str, Pass] | None = None

    def last(self, test: str) -> Pass | None:
        """The last pass of a test, or None."""
        with self._lock:
            return self._read().get(test)

    def keep(self, passed: Pass) -> None:
        with self._lock:
            self._read()[passed.test] = passed
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # A single append, so that concurrent runs do not mix lines. The first newline ends a truncated line.
            with self._path.open("a") as file:
                file.write(f"\n{json.dumps(asdict(passed))}\n")

    def _read(self) -> dict[str, Pass]:
        if self._passes is None:
            lines = self._path.read_text().splitlines() if self._path.exists() else []
            self._passes = {each.test: each for line in lines if (each := _parsed(line))}
            # Drop outdated lines once they are most of the file.
            if len(lines) > 4 * len(self._passes) + 100:
                self._rewrite(self._passes)
        return self._passes

    def _rewrite(self, passes: dict[str, Pass]) -> None:
        draft = self._path.with_name(f"{FILE}.{os.getpid()}")
        draft.write_text("".join(f"{json.dumps(asdict(each))}\n" for each in passes.values()))
        draft.replace(self._path)


def _parsed(line: str) -> Pass | None:
    try:
        return Pass(**json.loads(line))
    except (ValueError, TypeError):
        return None
