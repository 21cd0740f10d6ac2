"""Tables that are being built under a staging name: what a failing statement leaves of them goes with its node."""

from __future__ import annotations

import threading

from dbt.adapters.paimon.relation import PaimonRelation


class HalfBuilt(threading.local):
    """The staging tables of this thread's node that are not whole yet; dbt runs a node on one thread."""

    def __init__(self) -> None:
        self._tables: list[PaimonRelation] = []

    def add(self, relation: PaimonRelation) -> None:
        """A table is about to be created under this name."""
        self._tables.append(relation)

    def remove(self, relation: PaimonRelation) -> None:
        """The table is whole: from now on it may be all there is of a model, and nothing may drop it."""
        self._tables.remove(relation)

    def take(self) -> list[PaimonRelation]:
        """What is still half built; asked once, when the node has ended."""
        tables, self._tables = self._tables, []
        return tables
