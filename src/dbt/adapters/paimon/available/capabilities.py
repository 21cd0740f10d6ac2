"""Methods on `adapter` about the versions in use."""

from __future__ import annotations

from dbt.adapters.base import available
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.options.table_options import suggestion


class CapabilityMethods(AvailableMethods):
    """Answers about Paimon, Spark and the catalog, without a connection."""

    @available
    def has_capability(self, capability: str) -> bool:
        """Whether the versions in use have a capability, by its name in `capabilities.Capability`.

        Also works while dbt parses, so that a model can be `enabled` by it.

        Raises:
            CompilationError: there is no capability of that name.
        """
        try:
            return self.environment.supports(Capability(capability))
        except ValueError:
            near = suggestion(capability, [str(known) for known in Capability])
            hint = f" Did you mean '{near}'?" if near else ""
            raise CompilationError(
                f"adapter.has_capability: there is no capability '{capability}'.{hint}"
            ) from None
