"""Migrates state of an older version to the current one, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dbt.adapters.paimon.state.kinds import CURRENT, Kind

Step = Callable[[], None]
NO_STEPS: Final[Mapping[int, Step]] = {}


def migrate(kind: Kind, found: int, write_version: Callable[[int], None], steps: Mapping[int, Step] = NO_STEPS) -> int:
    """Run the steps from version `found` to the current one, write each step's version, and return the current one.

    If the process is killed, the next process repeats the unfinished step. So a step must be idempotent, and the state
    must be readable as the previous version until the new version is written.

    Args:
        found: the version of the state (see `kinds.read_version`).
        write_version: stores a version atomically.
        steps: version -> the step that migrates to it. Without a step, only the number changes.
    """
    for version in range(found + 1, CURRENT[kind] + 1):
        if version in steps:
            steps[version]()
        write_version(version)
    return CURRENT[kind]
