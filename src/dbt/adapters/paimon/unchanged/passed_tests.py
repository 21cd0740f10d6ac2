"""A file in the project's target folder with the data tests that have passed, and the key of each.

Each pass is a line of JSON; the last line of a test counts. A line that a crash has cut off is ignored. Without the
file (after `dbt clean`), all tests run.
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
    """A pass of a test: its unique id, its key (see `keys`), and when in UTC."""

    test: str
    node: str
    inputs: str
    at: str

    @classmethod
    def of(cls, test: str, key: Key) -> Pass:
        """A pass at this moment."""
        now = datetime.now(timezone.utc).isoformat(sep=" ", timespec="seconds")
        return cls(test, key.node, key.inputs, now)

    @property
    def key(self) -> Key:
        return Key(self.node, self.inputs)


class PassedTestsCache:
    """The passes of a project, in its target folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()
        self._passes: dict[str, Pass] | None = None

    def last(self, test: str) -> Pass | None:
        """The last pass of a test; None if none is known."""
        with self._lock:
            return self._read().get(test)

    def keep(self, passed: Pass) -> None:
        with self._lock:
            self._read()[passed.test] = passed
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # One write at the end of the file: concurrent runs do not mix lines. The newline ends a cut-off line.
            with self._path.open("a") as file:
                file.write(f"\n{json.dumps(asdict(passed))}\n")

    def _read(self) -> dict[str, Pass]:
        if self._passes is None:
            lines = self._path.read_text().splitlines() if self._path.exists() else []
            self._passes = {each.test: each for line in lines if (each := _parsed(line))}
            # Drop the outdated lines once they are most of the file.
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
