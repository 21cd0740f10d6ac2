"""The journal of an environment: the state of production that it was built from, and the progress of its promotion.

The journal is one row of a table in the environment's schema. Each write replaces the row in one commit, so a process
that is killed leaves the old or the new journal, on every store and catalog.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from dbt_common.dataclass_schema import dbtClassMixin
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors.conditions import is_not_found
from dbt.adapters.paimon.metadata import schemas, snapshots
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.state.kinds import Kind
from dbt.adapters.paimon.state.tables import option_sql, refuse_newer_table
from dbt_paimon import selected_nodes

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter
    from dbt.adapters.paimon.metadata.snapshots import Commit

TABLE: Final = Kind.ENVIRONMENT.value

# Catalog, schema and name of a relation.
Place = tuple[str, str, str]


class State(Enum):
    """The stage that an environment has reached."""

    # Its tables are incomplete, or a data test has failed.
    BUILDING = "building"
    # All its tables are built, and all data tests have passed.
    BUILT = "built"
    # Some of production's tables may have their new rows already.
    PROMOTING = "promoting"
    # All of production's tables have their new rows.
    PROMOTED = "promoted"


@dataclass(frozen=True)
class Base(dbtClassMixin):
    """The state of a node's production relation when the environment was created.

    Attributes:
        kind: table, view, or '' if the relation did not exist.
        snapshot: the id of the latest table snapshot; 0 if there is no table snapshot.
        at: when that table snapshot was committed, in seconds since the epoch.
    """

    kind: str = ""
    snapshot: int = 0
    at: float = 0.0


@dataclass(frozen=True)
class Node(dbtClassMixin):
    """A node that the environment builds, with its relations in the environment (`here`) and in production.

    `checksum` identifies the node's code (see `lineage.changes.fingerprint`).
    """

    unique_id: str
    fqn: str
    here: Place
    production: Place
    materialized: str
    checksum: str
    base: Base = field(default_factory=Base)

    @property
    def selector(self) -> str:
        """The node in dbt's selection syntax."""
        return selected_nodes.selector(self.fqn, self.unique_id.partition(".")[0])

    @property
    def shown(self) -> str:
        """The production relation's name for messages: schema.name."""
        return ".".join(self.production[1:])


@dataclass(frozen=True)
class Journal(dbtClassMixin):
    """The stored state of an environment.

    Attributes:
        ident: a random id, which is part of the promotion's commit user.
        home: the catalog and schema of the journal.
        schemas: all schemas of the environment.
        done: the unique ids of the nodes whose publication is complete, hooks included.
    """

    name: str
    ident: str
    state: State
    home: Place
    schemas: tuple[Place, ...]
    nodes: tuple[Node, ...]
    done: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """The prefix of the promotion's commit user."""
        return f"{Kind.PROMOTION_MARK.value}-{self.ident}"


def read(adapter: PaimonAdapter) -> Journal | None:
    """Read the journal in the target's schema; None if the schema contains no journal. Raises NewerStateError."""
    table = _table(home_of(adapter))
    try:
        found = schemas.newest_first(adapter.query, table)
        refuse_newer_table(Kind.ENVIRONMENT, found[0].options if found else {}, table)
        rows = adapter.query(f"select content from {table.render()}")
    except DbtRuntimeError as exc:
        if is_not_found(exc):
            return None
        raise
    return Journal.from_dict(json.loads(rows[0][0])) if rows else None


def write(adapter: PaimonAdapter, journal: Journal) -> None:
    """Store a journal in its `home` schema, which must exist."""
    arguments = {
        "journal": _table(journal.home),
        "content": json.dumps(journal.to_dict()),
        "options": option_sql(Kind.ENVIRONMENT),
    }
    adapter.execute_macro("paimon__write_journal", kwargs=arguments, macro_resolver=adapter.get_macro_resolver())


def home_of(adapter: PaimonAdapter) -> Place:
    """The catalog and schema of the adapter's target."""
    return (adapter.credentials.database or "", adapter.credentials.schema, "")


def _table(home: Place) -> PaimonRelation:
    return relation((home[0], home[1], TABLE))


def relation(place: Place) -> PaimonRelation:
    """The relation at a place, without a type."""
    database, schema, identifier = place
    created: PaimonRelation = PaimonRelation.create(database=database, schema=schema, identifier=identifier)
    return created


def base_of(adapter: PaimonAdapter, place: Place) -> Base:
    """The current state of the relation at a place."""
    found = adapter.get_relation(*place)
    if found is None:
        return Base()
    if not found.is_table:
        return Base("view")
    commits = snapshots.by_sql(adapter.query, found)
    return Base("table", commits[-1].snapshot, commits[-1].at) if commits else Base("table")


def commits_of(adapter: PaimonAdapter, node: Node) -> tuple[Commit, ...]:
    """The commits of a node's production table, oldest first; empty if production has no such table."""
    found = adapter.get_relation(*node.production)
    return snapshots.by_sql(adapter.query, found) if found is not None and found.is_table else ()


def is_published(journal: Journal, commits: Sequence[Commit]) -> bool:
    """Whether one of a table's commits is the promotion's."""
    return any(commit.user.startswith(f"{journal.mark}_") for commit in commits)


def is_superseded(journal: Journal, commits: Sequence[Commit]) -> bool:
    """Whether the promotion has written a table, and other runs have written it since.

    The promotion does not publish such a table again.
    """
    writers = [commit.user.startswith(f"{journal.mark}_") for commit in commits if not commit.is_upkeep]
    return any(writers) and not writers[-1]


def change_of(adapter: PaimonAdapter, journal: Journal, node: Node) -> str:
    """How a node's production relation has changed since the environment was created; '' if it is unchanged.

    Compactions and ANALYZE do not count, because they change no rows. The promotion's own commit does not count either.
    """
    commits = commits_of(adapter, node)
    if is_published(journal, commits):
        return ""
    found, base = adapter.get_relation(*node.production), node.base
    kind = "" if found is None else "table" if found.is_table else "view"
    if kind == node.materialized == "view":
        # Replacing a view loses no rows. The promotion may have written this one itself, in place of a table.
        return ""
    if kind != base.kind:
        return f"it was {_words(base.kind)}, and is now {_words(kind)}"
    newest = commits[-1].snapshot if commits else 0
    if newest < base.snapshot or any(each.snapshot == base.snapshot and each.at != base.at for each in commits):
        return "it was dropped and built again, or rolled back"
    if commits and commits[0].snapshot > base.snapshot + 1:
        return f"its table snapshots after {base.snapshot} have expired, so it may have been written again"
    later = [each.snapshot for each in commits if each.snapshot > base.snapshot and not each.is_upkeep]
    return f"it was written again (table snapshot {later[-1]})" if later else ""


def _words(kind: str) -> str:
    return f"a {kind}" if kind else "missing"
