"""The states of a table that `at()` can read. Runs no statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.metadata import snapshots, tags
from dbt.adapters.paimon.metadata.snapshots import Recorded
from dbt.adapters.paimon.metadata.table_name import Query
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.sql.timestamps import session_moment

SNAPSHOT: Final = "snapshot"
TAG: Final = "tag"
TIMESTAMP: Final = "timestamp"
BRANCH: Final = "branch"

# The retention of a tag that a branch needs. Other tags expire by the table's options.
NEVER_EXPIRES: Final = "36500 d"
# The number of tags, branches or table snapshots that an error lists.
_MAX_LISTED: Final = 20


@dataclass(frozen=True)
class State:
    """One state of a table: the number of a table snapshot, a tag, a timestamp or a branch."""

    kind: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind}={self.value}"


def parse(function: str, relation: object, arguments: Mapping[str, Any]) -> State:
    """Parse a macro's arguments; raises DbtRuntimeError if not exactly one is set, or if its value is invalid."""
    where = f"{function}({relation})"
    given = {kind: value for kind, value in arguments.items() if value is not None}
    if len(given) != 1:
        found = " and ".join(f"{kind}={value!r}" for kind, value in given.items()) or "none"
        raise DbtRuntimeError(f"{where}: set exactly one of {', '.join(arguments)}, not {found}.")
    ((kind, value),) = given.items()
    try:
        return State(kind, _READERS[kind](value))
    except ValueError as fault:
        raise DbtRuntimeError(f"{where}: {kind}={value!r}: {fault}") from None


def read(relation: PaimonRelation, asked: State) -> PaimonRelation:
    """The relation for a FROM clause: a branch, or the table with VERSION AS OF or TIMESTAMP AS OF."""
    if asked.kind == BRANCH:
        return branch_of(relation, asked.value)
    if asked.kind == TIMESTAMP:
        travel = f"timestamp as of {string_literal(asked.value)}"
    else:
        travel = f"version as of {asked.value if asked.kind == SNAPSHOT else string_literal(asked.value)}"
    travelled: PaimonRelation = relation.replace(travel=travel)
    return travelled


def branch_of(relation: PaimonRelation, branch: str) -> PaimonRelation:
    """A branch as a relation, which can be read and written like a table."""
    named: PaimonRelation = relation.replace_path(identifier=f"{relation.identifier}$branch_{branch}")
    return named


def recorded(query: Query, relation: PaimonRelation, asked: State) -> list[Recorded]:
    """The table's states of the same kind as `asked`."""
    if asked.kind == TAG:
        return [Recorded(name) for name in tags.tags(query, relation)]
    if asked.kind == BRANCH:
        return [Recorded(name) for name in tags.branches(query, relation)]
    return snapshots.timed(query, relation, asked.value if asked.kind == TIMESTAMP else None)


def latest_at(states: Iterable[Recorded]) -> Recorded | None:
    """The newest table snapshot that is not later than the timestamp; None if all are later."""
    return max((s for s in states if s.reached), key=lambda state: int(state.name), default=None)


def missing(function: str, relation: object, asked: State, states: Iterable[Recorded]) -> str:
    """The error message if the table does not have a state; empty if it does.

    For a timestamp before the oldest table snapshot, Paimon would read the oldest one (TimeTravelUtil).
    """
    found = list(states)
    where = f"{function}({relation}): "
    if asked.kind == TIMESTAMP:
        if latest_at(found) is not None:
            return ""
        oldest = min(found, key=lambda state: int(state.name), default=None)
        return f"{where}timestamp={asked.value!r}: " + (
            f"the oldest table snapshot, {oldest.name}, is of {oldest.committed}. Give this time or a later "
            "one; create a tag for a state that has to be kept longer than table snapshots."
            if oldest
            else "the table has no snapshot yet."
        )
    names = [state.name for state in found]
    if asked.value in names:
        return ""
    what = "table snapshot" if asked.kind == SNAPSHOT else asked.kind
    there = f"It has: {_listed(names)}." if names else "It has none."
    name = asked.value if asked.kind == SNAPSHOT else f"'{asked.value}'"
    return f"{where}there is no {what} {name}. {there}"


def _listed(names: list[str]) -> str:
    if len(names) > _MAX_LISTED:
        return f"{', '.join(names[:3])}, …, {', '.join(names[-3:])} ({len(names)} in all)"
    return ", ".join(names)


def _snapshot(value: Any) -> str:
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]+", str(value)):
        raise ValueError("this must be the number of a table snapshot; otherwise use tag=…, timestamp=… or branch=….")
    return str(int(value))


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("this must be a name, as a string.")
    return value


def _timestamp(value: Any) -> str:
    return session_moment(value).isoformat(sep=" ")


_READERS: Final = {SNAPSHOT: _snapshot, TAG: _name, TIMESTAMP: _timestamp, BRANCH: _name}
