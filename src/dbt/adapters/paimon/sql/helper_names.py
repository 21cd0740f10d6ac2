"""Names of helper tables, which the adapter creates next to a node's table."""

from __future__ import annotations

import re
import secrets
from typing import Final

# A table being built, before it is renamed to the target's name.
STAGING_SUFFIX: Final = "__dbt_tmp"

# The table that was replaced.
BACKUP_SUFFIX: Final = "__dbt_backup"

# The table with a model's positions in the tables whose changes it reads (see `changes.positions`).
POSITIONS_SUFFIX: Final = "__dbt_changes"

# The table with the applied deletes (apply_changes.sql).
DELETES_SUFFIX: Final = "__dbt_deletes"

# Each stream has its own table of deletes (see `tables.existing.STREAM_ID`).
STREAM_DELETES: Final = re.compile(rf"__[0-9a-f]{{12}}{DELETES_SUFFIX}$")

# The table with a stream's messages that cannot be parsed (see `streaming.dead_letters`).
DEAD_LETTERS_SUFFIX: Final = "__dead_letters"

# Without a lock, two runs may build the same table at once. Each build then has its own name, which ends with its start
# time in seconds and a random part, both hexadecimal.
OWN_STAGING: Final = re.compile(re.escape(STAGING_SUFFIX) + r"_(?P<second>[0-9a-f]{8})[0-9a-f]{8}$")

LONGEST_SUFFIX: Final = len(STAGING_SUFFIX) + 17


def own_staging_name(target: str, now: float) -> str:
    """A unique staging name; `now` is in seconds since 1970."""
    return f"{target}{STAGING_SUFFIX}_{int(now):08x}{secrets.token_hex(4)}"


def base_table_name(name: str) -> str | None:
    """The table that a staging or backup name belongs to; None for any other name."""
    for suffix in (STAGING_SUFFIX, BACKUP_SUFFIX):
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    found = OWN_STAGING.search(name)
    return name[: found.start()] if found else None


def owner_of(name: str) -> str | None:
    """The table whose positions or deletes a helper table with this name keeps; None for any other name."""
    if found := STREAM_DELETES.search(name):
        return name[: found.start()]
    for suffix in (POSITIONS_SUFFIX, DELETES_SUFFIX):
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return None


def stream_of(name: str) -> str | None:
    """The table whose stream has its dead letters in the table with this name; None for any other name."""
    return name.removesuffix(DEAD_LETTERS_SUFFIX) if name.endswith(DEAD_LETTERS_SUFFIX) else None


def is_helper(name: str) -> bool:
    """Whether a table's name is that of a helper table."""
    return any(found(name) is not None for found in (base_table_name, owner_of, stream_of))
