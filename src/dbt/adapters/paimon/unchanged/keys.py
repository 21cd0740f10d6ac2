"""The key of a run, and the mark that carries it in a commit.

A key says what a table was made of: the node (query, config, versions, settings) and its inputs (tables and files, as
they were before they were read). It is in the commit user of the commit that has the rows, so that it is there with
them or not at all:

    dbtk-<node>.<inputs>_…                  the commit has the rows
    dbtk-<node>.<inputs>.<base>_…           a run without rows, which Paimon would not commit: a commit of nothing

`base` is the position of the table's newest rows at that time (see `spark.heads`). If other rows have come in between,
the mark does not count.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.state.kinds import Kind

_WORD: Final = Kind.KEY_MARK.value
_DIGITS: Final = 24
# The statement and Paimon each append `_` and random characters.
_MARK: Final = re.compile(
    rf"{_WORD}-([0-9a-f]{{{_DIGITS}}})\.([0-9a-f]{{{_DIGITS}}})(?:\.(\d+\.[0-9a-f]+))?_"
)


@dataclass(frozen=True)
class Key:
    """What a run makes its table of: hashes of the node and of its inputs."""

    node: str
    inputs: str

    def mark(self, base: str = "") -> str:
        """What the commit user begins with.

        Args:
            base: the position of the table's newest rows, for a commit of nothing.
        """
        return f"{_WORD}-{self.node}.{self.inputs}" + (f".{base}" if base else "")


@dataclass(frozen=True)
class Found:
    """The key in a commit, and its base if it is a commit of nothing."""

    key: Key
    base: str = ""


def key_of(node: Mapping[str, Any], inputs: Mapping[str, str]) -> Key:
    """The key of a run.

    Args:
        node: what it is made by, as values that JSON has.
        inputs: the position of each input, by its name.
    """
    return Key(_hashed(node), _hashed(inputs))


def found_in(user: str) -> Found | None:
    """The key in a commit user; None if it has none, or one of another version."""
    found = _MARK.match(user)
    return None if found is None else Found(Key(found[1], found[2]), found[3] or "")


def _hashed(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
