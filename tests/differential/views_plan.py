"""A plan of materialized views: sources, views over them, and changes between refreshes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

# A table or a view in a query: `<f0>`.
_NAME: Final = re.compile(r"<([a-z]\w*)>")


@dataclass(frozen=True)
class Source:
    """A Paimon table that views read."""

    name: str
    columns: Mapping[str, str]
    key: tuple[str, ...] = ()
    partition: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def create(self) -> str:
        """The DDL."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        options = {"primary-key": ",".join(self.key), **self.options} if self.key else dict(self.options)
        given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        parted = f" partitioned by ({self.partition})" if self.partition else ""
        return f"create table <{self.name}> ({columns}) using paimon{parted}" + (
            f" tblproperties ({given})" if given else ""
        )


@dataclass(frozen=True)
class View:
    """A materialized view, or (without a config) a dbt view.

    Attributes:
        name: the name of its model.
        sql: its query.
        config: the config of its model.
        columns: its columns with their types.
        key: the columns that hold the key of its driving table.
    """

    name: str
    sql: str
    config: Mapping[str, Any] | None
    columns: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """Something that happens between two refreshes.

    Attributes:
        what: its kind; `roll back` and `full refresh` have no SQL here.
        table: the table that it changes.
        sql: its statements.
        steps: how many table snapshots a rollback goes back.
        during: seconds after the previous change, for a change while dbt refreshes the views; 0 for one before that.
    """

    what: str
    table: str
    sql: tuple[str, ...] = ()
    steps: int = 0
    during: float = 0.0


@dataclass(frozen=True)
class Plan:
    """A project of several views, and the changes before each refresh."""

    number: int
    sources: tuple[Source, ...]
    views: tuple[View, ...]
    steps: tuple[tuple[Change, ...], ...]

    @property
    def maintained(self) -> tuple[View, ...]:
        """The materialized views."""
        return tuple(view for view in self.views if view.config is not None)

    def view(self, name: str) -> View | None:
        """The view of this name."""
        return next((view for view in self.views if view.name == name), None)


def with_names(sql: str, name: Callable[[str], str]) -> str:
    """A query in which `name` replaces the names of tables."""
    return _NAME.sub(lambda found: name(found[1]), sql)


def names(sql: str) -> set[str]:
    """The tables and views that a query reads."""
    return set(_NAME.findall(sql))


def to_json(plan: Plan) -> str:
    return json.dumps(asdict(plan), indent=1)


def from_json(text: str) -> Plan:
    found = json.loads(text)
    return Plan(
        found["number"],
        tuple(Source(**{**each, "key": tuple(each["key"])}) for each in found["sources"]),
        tuple(View(**{**each, "key": tuple(each["key"])}) for each in found["views"]),
        tuple(tuple(Change(**{**each, "sql": tuple(each["sql"])}) for each in step) for step in found["steps"]),
    )
