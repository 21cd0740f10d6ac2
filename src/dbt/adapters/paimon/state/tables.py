"""The version of state that is a table, as a table option.

Paimon keeps options that it does not know, in CREATE and in ALTER TABLE (0.9.0 to 2.0.0; as with `dbt.stream-id`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dbt.adapters.paimon.state.kinds import CURRENT, Kind, read_version
from dbt.adapters.paimon.state.migration import migrate

OPTION: Final = "dbt.state-version"


def option_sql(kind: Kind) -> str:
    """The option of a new table, as it is written in TBLPROPERTIES."""
    return f"'{OPTION}' = '{CURRENT[kind]}'"


def version_in(kind: Kind, options: Mapping[str, str], table: object) -> int:
    """The version of a table.

    Args:
        kind: what the table holds.
        options: its options.
        table: its name, for the message.

    Raises:
        NewerStateError: it is newer than this adapter.
    """
    return read_version(kind, options.get(OPTION), str(table))


def migrate_table(kind: Kind, found: int, table: str, run: Callable[[str], object]) -> int:
    """Bring a table to the current version; its lock is held.

    Args:
        kind: what the table holds.
        found: its version.
        table: its rendered name.
        run: runs a statement.

    Returns:
        The current version.
    """

    def write_version(version: int) -> None:
        run(f"alter table {table} set tblproperties ('{OPTION}' = '{version}')")

    return migrate(kind, found, write_version)
