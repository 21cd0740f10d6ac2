"""The kinds of state that the adapter stores, and the current format version of each.

Raise a version only if an older adapter could misread what a newer one writes. State without a version is version 0,
written by dbt-paimon 0.1.0 (commit 905dd9b).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, unique
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

UNVERSIONED: Final = 0


@unique
class Kind(Enum):
    """A kind of state, and where it is stored."""

    VIEWS = "_dbt_views"
    POSITIONS = "<model>__dbt_changes"
    DELETES = "<model>__dbt_deletes"
    DEAD_LETTERS = "<model>__dead_letters"
    CHECKPOINT = "checkpoint"
    # The marks at the beginning of a commit user, such as `dbtc-…`.
    READ_MARK = "dbtc"
    BATCH_MARK = "dbts"
    KEY_MARK = "dbtk"
    PROMOTION_MARK = "dbtp"
    ENVIRONMENT = "_dbt_environment"
    LOCKS = ".dbt_paimon"
    CACHE = "cache folder"


CURRENT: Final[Mapping[Kind, int]] = dict.fromkeys(Kind, 1)


class NewerStateError(DbtRuntimeError):
    """State was written by a newer adapter; it was not changed."""


def read_version(kind: Kind, found: str | None, where: str) -> int:
    """Parse the stored version of `where`; raises NewerStateError if it is newer than this adapter, or not a number."""
    if found is None:
        return UNVERSIONED
    text = found.strip()
    if text.isascii() and text.isdigit() and int(text) <= CURRENT[kind]:
        return int(text)
    raise NewerStateError(
        f"{where} was written by a newer dbt-paimon (state version {text}; this one knows versions up to "
        f"{CURRENT[kind]}). Upgrade dbt-paimon; nothing was changed."
    )


def refuse_newer_mark(kind: Kind, user: str, table: object) -> None:
    """Raise NewerStateError if the mark in a commit user has a newer version, such as 2 in `dbtc2-…`.

    A mark without a number is version 1. dbt-paimon 0.1.0 treats a commit whose mark has a number as another program's.
    """
    if found := re.match(rf"{kind.value}(\d+)-", user):
        read_version(kind, found[1], str(table))
