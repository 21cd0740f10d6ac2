"""What the sources of a stream need from the adapter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.tables.changeset import ExistingTable


@dataclass(frozen=True)
class Access:
    """What sources are opened with; `incremental_catalog`: see `changes.reads.read_mode`."""

    adapter: AdapterProtocol
    existing: Callable[[PaimonRelation], ExistingTable]
    incremental_catalog: Callable[[], str]
