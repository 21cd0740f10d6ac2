"""Drops the schemas of an environment, and its branches of production's tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtRuntimeError

from dbt_paimon.env import journal
from dbt_paimon.env.journal import Journal, Place, State

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter


def drop_environment(adapter: PaimonAdapter, found: Journal) -> None:
    """Drop the schemas of an environment; if this is interrupted, the rest cannot be promoted."""
    journal.write(adapter, replace(found, state=State.BUILDING))
    drop_schemas(adapter, found.schemas)


def drop_schemas(adapter: PaimonAdapter, schemas: Iterable[Place]) -> None:
    """Drop schemas, and the branches that their views read.

    Drops the journal last, so that an interrupted drop can be repeated.
    """
    home = journal.home_of(adapter)
    for place in sorted(schemas, key=lambda each: each == home):
        database, schema, _ = place
        if schema not in adapter.list_schemas(database):
            continue
        relation = journal.relation(place).without_identifier()
        adapter.clones.end_in_schema(relation)
        for other in adapter.list_relations_without_caching(relation) if place == home else ():
            if other.identifier != journal.TABLE:
                adapter.drop_relation(other)
        adapter.drop_schema(relation)


def refuse_foreign(adapter: PaimonAdapter, name: str, schemas: Iterable[Place]) -> None:
    """Refuse schemas with tables or views that this environment did not create."""
    for place in schemas:
        relation = journal.relation(place).without_identifier()
        is_there = place[1] in adapter.list_schemas(place[0])
        found = sorted(each.render() for each in adapter.list_relations_without_caching(relation)) if is_there else []
        if found:
            raise DbtRuntimeError(
                f"env {name}: the schema {place[1]} is not of this environment, and contains {found[0]}. Nothing was "
                "done. Choose another name for the environment, or drop that schema."
            )
