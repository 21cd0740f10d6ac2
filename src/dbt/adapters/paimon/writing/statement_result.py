"""What a statement that wrote a table returned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import agate
    from dbt.adapters.contracts.connection import AdapterResponse


@dataclass(frozen=True)
class StatementResult:
    """The arguments of dbt's `store_result`.

    Attributes:
        response: dbt's response to the statement; empty while dbt parses.
        table: the rows that it returned; None while dbt parses.
    """

    response: AdapterResponse | str = ""
    table: agate.Table | None = None
