"""The two sides of a comparison, in the form of the command line: `tag:month_end`, `snapshot:7`, `target:prod`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from dbt_common.exceptions import DbtRuntimeError


class Kind(Enum):
    """The kind of a side."""

    # The table's current state in this target.
    NOW = "now"
    # The state before the newest commit that changed rows.
    PREVIOUS = "previous"
    SNAPSHOT = "snapshot"
    TAG = "tag"
    TIMESTAMP = "timestamp"
    BRANCH = "branch"
    # The node's table in an earlier manifest (`--state`).
    STATE = "state"
    # The node's table in a different target of the profile.
    TARGET = "target"
    # Any other table: [catalog.]schema.table.
    TABLE = "table"


# Kinds without a value.
_ALONE: Final = (Kind.NOW, Kind.PREVIOUS, Kind.STATE)
# Kinds that read a table other than the node's own in this target.
ELSEWHERE: Final = (Kind.STATE, Kind.TARGET, Kind.TABLE)


@dataclass(frozen=True)
class Side:
    """One side; `value` is empty for kinds without one."""

    kind: Kind
    value: str = ""

    def __str__(self) -> str:
        return f"{self.kind.value}:{self.value}" if self.value else self.kind.value


def read(option: str, text: str) -> Side:
    """Parse a side; `option` is named in the error message."""
    word, colon, value = text.partition(":")
    kind = next((kind for kind in Kind if kind.value == word.strip()), None)
    if kind is None or (kind in _ALONE) is bool(colon and value.strip()):
        known = ", ".join(each.value if each in _ALONE else f"{each.value}:…" for each in Kind)
        raise DbtRuntimeError(f"{option} {text}: not a valid side. Use one of {known}.")
    return Side(kind, value.strip())
