"""Brings state of an older version to the current one, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from dbt.adapters.paimon.state.kinds import CURRENT, Kind

Step = Callable[[], None]
NO_STEPS: Final[Mapping[int, Step]] = MappingProxyType({})


def migrate(
    kind: Kind, found: int, write_version: Callable[[int], None], steps: Mapping[int, Step] = NO_STEPS
) -> int:
    """Run the steps from a version to the current one; after each, its version is written.

    A process that is killed in between leaves the version before, and the next one repeats the step. So a step that is
    repeated must come to the same result, wherever it was ended, and until then its state must be readable as the
    version before.

    Args:
        kind: what is migrated; its caller is the only one that writes it.
        found: its version (see `kinds.read_version`).
        write_version: writes a version where the state keeps it, at once or not at all.
        steps: by the version that it leads to; a version without a step differs by its number alone.

    Returns:
        The current version.
    """
    for version in range(found + 1, CURRENT[kind] + 1):
        if version in steps:
            steps[version]()
        write_version(version)
    return CURRENT[kind]
