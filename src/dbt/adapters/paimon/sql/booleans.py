"""Boolean arguments of macros and procedures."""

from __future__ import annotations

from dbt_common.exceptions import DbtRuntimeError


def boolean(value: object) -> bool:
    """Parse an argument: a boolean, or the string 'true' or 'false'; raises ValueError for any other value."""
    text = str(value).lower()
    if not isinstance(value, (bool, str)) or text not in ("true", "false"):
        raise ValueError("must be true or false.")
    return text == "true"


def argument(operation: str, name: str, value: object) -> bool:
    """Parse an operation's argument (see `boolean`); raises DbtRuntimeError for any other value."""
    try:
        return boolean(value)
    except ValueError as fault:
        raise DbtRuntimeError(f"{operation}: {name}={value!r}: {fault} Nothing was done.") from None
