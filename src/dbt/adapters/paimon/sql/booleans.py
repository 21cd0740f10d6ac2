"""The arguments of macros and procedures that are true or false."""

from __future__ import annotations

from dbt_common.exceptions import DbtRuntimeError


def boolean(value: object) -> bool:
    """The boolean that an argument means, given as such or as text; raises ValueError for any other value."""
    text = str(value).lower()
    if not isinstance(value, (bool, str)) or text not in ("true", "false"):
        raise ValueError("must be true or false.")
    return text == "true"


def argument(operation: str, name: str, value: object) -> bool:
    """The boolean that an operation's argument means; raises DbtRuntimeError for any other value."""
    try:
        return boolean(value)
    except ValueError as fault:
        raise DbtRuntimeError(f"{operation}: {name}={value!r}: {fault} Nothing was done.") from None
