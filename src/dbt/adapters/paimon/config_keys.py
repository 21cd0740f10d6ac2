"""Descriptions of a model's config keys and a profile's keys, from which docs/reference is generated."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final

from dbt_common.contracts.config.base import MergeBehavior

# The key in a dataclass field's metadata.
_METADATA: Final = "dbt_paimon_key"

COLUMNS: Final = "a column, or a list of them"
BOOLEAN: Final = "`true` or `false`"
NUMBER: Final = "a whole number"
MAPPING: Final = "a mapping"
CONDITION: Final = "an SQL condition"
SECONDS: Final = "a whole number of seconds"
DURATION: Final = "a duration, as in `'7 d'`"


@dataclass(frozen=True)
class Key:
    """The description of a key. All strings may contain Markdown.

    Attributes:
        meaning: one line without a full stop.
        takes: the kind of value, in words; '' if it is a string, or has the type of `option`.
        values: the allowed values, if they are limited.
        default: what applies without the key.
        option: the Paimon option that the key sets.
        page: the page of docs/ that explains the key, with an anchor if needed.
    """

    meaning: str
    takes: str = ""
    values: tuple[str, ...] = ()
    default: str = ""
    option: str = ""
    page: str = ""


def key_field(value: Any, meaning: str, takes: str = "", *, is_merged: bool = False, **description: Any) -> Any:
    """A dataclass field with a default (a value or a factory) and the description of its key (see `Key`).

    With `is_merged`, dbt merges a folder's mapping with the model's.
    """
    metadata: dict[str, Any] = {_METADATA: Key(meaning, takes, **description)}
    if is_merged:
        metadata |= MergeBehavior.Update.meta()
    if callable(value):
        return field(default_factory=value, metadata=metadata)
    return field(default=value, metadata=metadata)


def keys_of(described: type) -> dict[str, Key]:
    """The keys of a dataclass by name, without fields that have no description."""
    return {each.name: each.metadata[_METADATA] for each in fields(described) if _METADATA in each.metadata}
