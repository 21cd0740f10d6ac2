"""Tracks tables that are being built under a staging name, so that those of a failed node are dropped."""

from __future__ import annotations

import threading

from dbt.adapters.paimon.relation import PaimonRelation


class UnfinishedTables(threading.local):
    """The incomplete staging tables of this thread's node; dbt runs each node on one thread."""

    def __init__(self) -> None:
        self._tables: list[PaimonRelation] = []

    def add(self, relation: PaimonRelation) -> None:
        """Register a table that is about to be created."""
        self._tables.append(relation)

    def remove(self, relation: PaimonRelation) -> None:
        """Unregister a table: it is complete, may be the only copy of a model, and must not be dropped."""
        self._tables.remove(relation)

    def take(self) -> list[PaimonRelation]:
        """Return and forget the incomplete tables; called once, when the node has ended."""
        tables, self._tables = self._tables, []
        return tables
