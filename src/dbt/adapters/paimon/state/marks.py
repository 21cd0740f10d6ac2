"""The version of a mark at the beginning of a commit user, such as `dbtc-…` or `dbtc2-…`.

A mark without a number is version 1. dbt-paimon 0.1.0 takes a mark with a number for a commit of another writer.
"""

from __future__ import annotations

import re

from dbt.adapters.paimon.state.kinds import CURRENT, Kind, read_version


def refuse_newer_mark(kind: Kind, user: str, table: object) -> None:
    """Raise NewerStateError if a commit user has a mark of a newer adapter."""
    if found := re.match(rf"{kind.value}(\d+)-", user):
        read_version(kind, found[1], str(table))


def newest_mark_sql(kind: Kind, user: str) -> str:
    """SQL of the highest version of the marks in a column of commit users; NULL if none has a number."""
    return f"max(try_cast(regexp_extract({user}, '^{kind.value}([0-9]+)-', 1) as int))"


def refuse_newer_version(kind: Kind, newest: int | None, table: object) -> None:
    """Raise NewerStateError if the result of `newest_mark_sql` is newer than this adapter."""
    if newest is not None and newest > CURRENT[kind]:
        read_version(kind, str(newest), str(table))
