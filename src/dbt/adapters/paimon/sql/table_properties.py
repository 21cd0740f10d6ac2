"""The statements that set and unset options of a table; `table` is its quoted name."""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.paimon.sql.text import string_literal


def set_options(table: str, options: Mapping[str, str | int]) -> str:
    """ALTER TABLE that sets options."""
    listed = ", ".join(f"{string_literal(name)} = {string_literal(str(value))}" for name, value in options.items())
    return f"alter table {table} set tblproperties ({listed})"


def unset_options(table: str, *names: str) -> str:
    """ALTER TABLE that removes options, whether they are set or not."""
    return f"alter table {table} unset tblproperties ({', '.join(map(string_literal, names))})"
