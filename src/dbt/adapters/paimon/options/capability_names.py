"""Looks up capabilities by the names that models use."""

from __future__ import annotations

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.options.table_options import suggestion


def capability_named(name: str) -> Capability:
    """The capability with this name, as in `adapter.has_capability('branches')`; CompilationError if unknown."""
    try:
        return Capability(name)
    except ValueError:
        near = suggestion(name, [str(known) for known in Capability])
        hint = f" Did you mean '{near}'?" if near else ""
        raise CompilationError(f"adapter.has_capability: there is no capability '{name}'.{hint}") from None
