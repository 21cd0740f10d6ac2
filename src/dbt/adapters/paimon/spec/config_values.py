"""Reads config values that are columns or booleans."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from dbt.adapters.paimon.options.values import split_columns
from dbt.adapters.paimon.spec.problems import Problems

# A column name in an option's value, which Paimon splits at commas.
_COLUMN_NAME: Final = re.compile(r"[^,`\s][^,`]*")


def column_list(value: Any) -> tuple[str, ...]:
    """The columns in a config value: 'a', 'a, b', ['a', 'b'] or None. An expression like 'concat(a, b)' stays whole."""
    if value is None:
        return ()
    items = map(str, value if isinstance(value, (list, tuple)) else [value])
    return tuple(part for item in items for part in ([item] if "(" in item else split_columns(item)))


def plain_columns(value: Any, key: str, problems: Problems) -> tuple[str, ...]:
    """The column names in a config value; anything else in it becomes a problem."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        problems.add(key, value, "must be a column name or a list of column names. Write it as in ['id', 'dt']")
        return ()
    names = column_list(value)
    for name in names:
        if not _COLUMN_NAME.fullmatch(name):
            problems.add(
                key,
                name,
                "not a plain column name, because it contains a comma or backtick. Write it without quotes, or give "
                "the column an alias in the query",
            )
    first: dict[str, str] = {}
    for name in names:
        if name.lower() in first:
            problems.add(key, value, f"'{first[name.lower()]}' is listed twice. Name each column once")
        first.setdefault(name.lower(), name)
    return tuple(dict.fromkeys(names))


def columns_text(value: Any, key: str, problems: Problems) -> str | None:
    """The value of an option that lists columns, or None."""
    return ",".join(plain_columns(value, key, problems)) or None


def columns_or_property(
    value: Any, properties: dict[str, Any], key: str, option: str, problems: Problems
) -> tuple[str, ...]:
    """The columns in the value of `key`, or else in its option, which is removed from `properties`."""
    own = () if value is None else plain_columns(value, key, problems)
    if option not in properties:
        return own
    other = plain_columns(properties.pop(option), f"tblproperties['{option}']", problems)
    if own and other and list(map(str.lower, own)) != list(map(str.lower, other)):
        problems.add(key, list(own), f"tblproperties sets '{option}'='{','.join(other)}'. Keep one of the two")
    return own or other


def is_on(config: Mapping[str, Any], key: str, problems: Problems, default: str = "false") -> bool:
    """Whether a key is true; adds a problem for a value that is neither true nor false."""
    value = config.get(key)
    text = default if value is None else str(value).lower()
    if text not in ("true", "false"):
        problems.add(key, value, "true or false is needed. Set one of the two")
    return text == "true"
