"""The version of state in a table, stored as a table option.

Paimon keeps options that it does not know, such as `dbt.stream-id`, in CREATE and ALTER TABLE (0.9.0 to 2.0.0).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dbt.adapters.paimon.state.kinds import CURRENT, Kind, read_version
from dbt.adapters.paimon.state.migration import migrate

OPTION: Final = "dbt.state-version"


def option_sql(kind: Kind) -> str:
    """The option for the TBLPROPERTIES of a new table."""
    return f"'{OPTION}' = '{CURRENT[kind]}'"


def version_in(kind: Kind, options: Mapping[str, str], table: object) -> int:
    """The version in a table's options. Raises NewerStateError if it is newer than this adapter."""
    return read_version(kind, options.get(OPTION), str(table))


def migrate_table(kind: Kind, found: int, table: str, run: Callable[[str], object]) -> int:
    """Migrate a table from version `found` to the current one, and return it. The caller holds the table's lock."""

    def write_version(version: int) -> None:
        run(f"alter table {table} set tblproperties ('{OPTION}' = '{version}')")

    return migrate(kind, found, write_version)
