"""The kinds of state that the adapter stores, and the current format version of each.

Increase a version only if an older adapter could misread what a newer one writes. State without a version was written
by dbt-paimon 0.1.0 (commit 905dd9b), in the same formats as version 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, unique
from typing import Final

from dbt_common.exceptions import DbtRuntimeError


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
    DELETE_MARK = "dbtd"
    ENVIRONMENT = "_dbt_environment"
    LOCKS = ".dbt_paimon"
    CACHE = "cache folder"


CURRENT: Final[Mapping[Kind, int]] = dict.fromkeys(Kind, 1)


class NewerStateError(DbtRuntimeError):
    """State was written by a newer adapter; it was not changed."""


def refuse_newer(kind: Kind, found: str | None, where: object) -> None:
    """Raise NewerStateError if the stored version of `where` is newer than this adapter, or not a number.

    `found` is None for state without a version.
    """
    text = "0" if found is None else found.strip()
    if text.isascii() and text.isdigit() and int(text) <= CURRENT[kind]:
        return
    raise NewerStateError(
        f"{where} was written by a newer dbt-paimon (state version {text}; this one knows versions up to "
        f"{CURRENT[kind]}). Upgrade dbt-paimon; nothing was changed."
    )


def refuse_newer_mark(kind: Kind, user: str, table: object) -> None:
    """Raise NewerStateError if the mark in a commit user has a newer version, such as 2 in `dbtc2-…`.

    A mark without a number is version 1. dbt-paimon 0.1.0 treats a commit whose mark has a number as another program's.
    """
    if found := re.match(rf"{kind.value}(\d+)-", user):
        refuse_newer(kind, found[1], table)
