"""The kinds of state that the adapter keeps, and the version that each has now.

A kind's version counts its format, not releases of the adapter: it rises only when an older adapter could misread what
a newer one writes. What carries no version is of version 0, as commit 905dd9b wrote it, which counts as dbt-paimon
0.1.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, unique
from types import MappingProxyType
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

UNVERSIONED: Final = 0


@unique
class Kind(Enum):
    """A kind of state, and where it is."""

    VIEWS = "_dbt_views"
    POSITIONS = "<model>__dbt_changes"
    DELETES = "<model>__dbt_deletes"
    DEAD_LETTERS = "<model>__dead_letters"
    CHECKPOINT = "checkpoint"
    READ_MARK = "dbtc"
    BATCH_MARK = "dbts"
    KEY_MARK = "dbtk"
    LOCKS = ".dbt_paimon"
    CACHE = "cache folder"


CURRENT: Final[Mapping[Kind, int]] = MappingProxyType(
    {
        Kind.VIEWS: 1,
        Kind.POSITIONS: 1,
        Kind.DELETES: 1,
        Kind.DEAD_LETTERS: 1,
        Kind.CHECKPOINT: 1,
        # Marks without a number are of version 1 (see `mark_version`).
        Kind.READ_MARK: 1,
        Kind.BATCH_MARK: 1,
        Kind.KEY_MARK: 1,
        Kind.LOCKS: 1,
        Kind.CACHE: 1,
    }
)


class NewerStateError(DbtRuntimeError):
    """Some state was written by a newer adapter; it was not changed."""


def read_version(kind: Kind, found: str | None, where: str) -> int:
    """The version of some state, which this adapter can read.

    Args:
        kind: what it is.
        found: the version as it is written there; None if it is not.
        where: the table, folder or commit, for the message.

    Returns:
        The version; UNVERSIONED if none is written.

    Raises:
        NewerStateError: it is newer than this adapter, or is no number.
    """
    if found is None:
        return UNVERSIONED
    text = found.strip()
    if text.isascii() and text.isdigit() and int(text) <= CURRENT[kind]:
        return int(text)
    raise NewerStateError(
        f"{where} was written by a newer dbt-paimon (state version {text}; this one knows versions up to "
        f"{CURRENT[kind]}). Upgrade dbt-paimon; nothing was changed."
    )
