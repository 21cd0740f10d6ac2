"""The version of state in a table, stored as a table option.

Paimon keeps options that it does not know, such as `dbt.stream-id`, in CREATE and ALTER TABLE (0.9.0 to 2.0.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dbt.adapters.paimon.state.kinds import CURRENT, Kind, refuse_newer

OPTION: Final = "dbt.state-version"


def option_sql(kind: Kind) -> str:
    """The option for the TBLPROPERTIES of a new table."""
    return f"'{OPTION}' = '{CURRENT[kind]}'"


def refuse_newer_table(kind: Kind, options: Mapping[str, str], table: object) -> None:
    """Raise NewerStateError if the version in a table's options is newer than this adapter."""
    refuse_newer(kind, options.get(OPTION), table)
