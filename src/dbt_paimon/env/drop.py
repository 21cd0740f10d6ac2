"""Drops the schemas of an environment, and its branches of production's tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dbt_paimon.env import journal
from dbt_paimon.env.journal import Place

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter


def drop_schemas(adapter: PaimonAdapter, schemas: Iterable[Place]) -> None:
    """Drop schemas, and the branches that their views read.

    Drops the journal's schema last, so that an interrupted drop can be repeated.
    """
    own = adapter.credentials.schema
    for place in sorted(schemas, key=lambda each: each[1] == own):
        database, schema, _ = place
        if schema not in adapter.list_schemas(database):
            continue
        relation = journal.relation(place).without_identifier()
        # Drop the branches first: they are found through views, which are dropped with the schema.
        for branch in adapter.clones.in_schema(relation):
            adapter.clones.end(branch)
        adapter.drop_schema(relation)
