"""The key of a run, and the mark with which a commit stores it.

A key has two hashes: one of the node (query, config, versions, settings), and one of its inputs (tables and files,
before they were read). The key is part of the commit user:

    dbtk-<node>.<inputs>_…                  a commit with the rows
    dbtk-<node>.<inputs>.<base>_…           an empty commit after a run without rows, which Paimon would not commit

`base` is the position of the table's newest rows at that time (see `metadata.table_versions`). If rows have been
written since, the mark is invalid.
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
_MARK: Final = re.compile(rf"{_WORD}-([0-9a-f]{{{_DIGITS}}})\.([0-9a-f]{{{_DIGITS}}})(?:\.(\d+\.[0-9a-f]+))?_")


@dataclass(frozen=True)
class Key:
    """Hashes of a node and of its inputs."""

    node: str
    inputs: str

    def mark(self, base: str = "") -> str:
        """The beginning of the commit user; `base` is only for an empty commit."""
        return f"{_WORD}-{self.node}.{self.inputs}" + (f".{base}" if base else "")

    def change(self, now: Key) -> str:
        """What changed from this key to `now`; '' if they are equal."""
        if self.node != now.node:
            return "its query, a view in it or its config has changed"
        return "" if self.inputs == now.inputs else "an input has changed"


def key_of(node: Mapping[str, Any], inputs: Mapping[str, str]) -> Key:
    """The key of a run; `node` has JSON values, and `inputs` maps the name of an input to its position."""
    return Key(_hashed(node), _hashed(inputs))


def found_in(user: str) -> tuple[Key, str] | None:
    """The key in a commit user, and the base of an empty commit or ''; None if there is no key of this version."""
    found = _MARK.match(user)
    return None if found is None else (Key(found[1], found[2]), found[3] or "")


def _hashed(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
