"""The version of a mark at the beginning of a commit user, such as `dbtc-…` or `dbtc2-…`.

A mark without a number is version 1. To dbt-paimon 0.1.0, a commit whose mark has a number is from another writer.
"""

from __future__ import annotations

import re

from dbt.adapters.paimon.state.kinds import Kind, read_version


def refuse_newer_mark(kind: Kind, user: str, table: object) -> None:
    """Raise NewerStateError if a commit user has a mark of a newer adapter."""
    if found := re.match(rf"{kind.value}(\d+)-", user):
        read_version(kind, found[1], str(table))
