"""The version of a mark at the beginning of a commit user, such as `dbtc-…` or `dbtc2-…`.

A mark without a number is of version 1, and dbt-paimon 0.1.0 knows no other: to it, a mark with a number is somebody
else's commit. Since then a later one is refused.
"""

from __future__ import annotations

import re

from dbt.adapters.paimon.state.kinds import CURRENT, Kind, read_version


def refuse_newer_mark(kind: Kind, user: str, table: object) -> None:
    """Refuse a commit of a newer adapter.

    Args:
        kind: the kind of mark, whose value is its word.
        user: the commit user.
        table: the table, for the message.

    Raises:
        NewerStateError: its mark is of a later version.
    """
    if found := re.match(rf"{kind.value}(\d+)-", user):
        read_version(kind, found[1], str(table))


def newest_mark_sql(kind: Kind, user: str) -> str:
    """SQL of the highest version of the marks in a column of commit users; NULL if none has a number."""
    return f"max(try_cast(regexp_extract({user}, '^{kind.value}([0-9]+)-', 1) as int))"


def refuse_newer_version(kind: Kind, newest: int | None, table: object) -> None:
    """Refuse what `newest_mark_sql` has found, if it is newer.

    Raises:
        NewerStateError: it is.
    """
    if newest is not None and newest > CURRENT[kind]:
        read_version(kind, str(newest), str(table))
