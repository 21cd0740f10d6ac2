"""What a key of a model's config or of a profile means, beside the key itself: docs/reference is written from it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

# The place in a dataclass field's metadata.
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
    """A key, as docs/reference shows it. All texts may contain Markdown.

    Attributes:
        meaning: what it does, in one line without a full stop.
        takes: what its values are, in words; '' if they are the option's, or text.
        values: the values, if there are only these.
        default: what holds without it; '' if that is nothing.
        option: Paimon's option that it becomes.
        page: where it is explained, a page of docs/ with an anchor if need be.
    """

    meaning: str
    takes: str = ""
    values: tuple[str, ...] = ()
    default: str = ""
    option: str = ""
    page: str = ""

    @property
    def metadata(self) -> dict[str, Key]:
        """The metadata of the dataclass field that the key is."""
        return {_METADATA: self}


def keys_of(described: type) -> dict[str, Key]:
    """The keys that are a dataclass's own fields, by name.

    Raises:
        KeyError: a field has no description.
    """
    own = {name for name in described.__annotations__ if not name.startswith("_")}
    return {each.name: each.metadata[_METADATA] for each in fields(described) if each.name in own}
