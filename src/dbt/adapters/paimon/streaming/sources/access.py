"""What the sources of a stream ask of the adapter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.tables.changeset import ExistingTable


@dataclass(frozen=True)
class Access:
    """The project, the catalog and the session that sources are opened with.

    Attributes:
        adapter: the adapter.
        existing: returns an existing table as the catalog describes it.
        incremental_catalog: returns the catalog whose changes old versions of Paimon can read (see
            `changes.reads.read_mode`).
    """

    adapter: AdapterProtocol
    existing: Callable[[PaimonRelation], ExistingTable]
    incremental_catalog: Callable[[], str]
