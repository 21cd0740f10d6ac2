"""The two states that are compared, as the command line names them: `tag:month_end`, `snapshot:7`, `target:prod`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

NOW: Final = "now"
PREVIOUS: Final = "previous"
STATE: Final = "state"


class Kind(Enum):
    """What a side is a state of."""

    # The table of this target, as it is.
    NOW = "now"
    # Before the newest commit that was no compaction.
    PREVIOUS = "previous"
    SNAPSHOT = "snapshot"
    TAG = "tag"
    TIMESTAMP = "timestamp"
    BRANCH = "branch"
    # The node's table in an earlier manifest (`--state`).
    STATE = "state"
    # The node's table in another target of the profile.
    TARGET = "target"
    # Any other table: [catalog.]schema.table.
    TABLE = "table"


_ALONE: Final = (Kind.NOW, Kind.PREVIOUS, Kind.STATE)
# Their rows are in another table than the node's own.
ELSEWHERE: Final = (Kind.STATE, Kind.TARGET, Kind.TABLE)


@dataclass(frozen=True)
class Side:
    """One of the two states. `value` is empty where the kind says it all."""

    kind: Kind
    value: str = ""

    def __str__(self) -> str:
        return f"{self.kind.value}:{self.value}" if self.value else self.kind.value


def read(option: str, text: str) -> Side:
    """A side, as it was typed.

    Args:
        option: the option, for the message.
        text: `now`, `previous`, `state`, or a kind with a value: `tag:x`, `snapshot:7`, `timestamp:2026-01-31`,
            `branch:b`, `target:prod`, `table:schema.name`.

    Raises:
        DbtRuntimeError: it is none of these.
    """
    word, colon, value = text.partition(":")
    kind = next((kind for kind in Kind if kind.value == word.strip()), None)
    if kind is None or (kind in _ALONE) is bool(colon and value.strip()):
        known = ", ".join(each.value if each in _ALONE else f"{each.value}:…" for each in Kind)
        raise DbtRuntimeError(f"{option} {text}: is not known. Use one of {known}.")
    return Side(kind, value.strip())
