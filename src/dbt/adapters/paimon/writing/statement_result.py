"""The result of a statement that wrote a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import agate
    from dbt.adapters.contracts.connection import AdapterResponse


@dataclass(frozen=True)
class StatementResult:
    """The arguments of dbt's `store_result`."""

    response: AdapterResponse
    table: agate.Table | None = None
