"""Old names of `write_modes`, which `refreshing` still imports."""

from dbt.adapters.paimon.plan.write_modes import IncrementalWrite as Increment
from dbt.adapters.paimon.plan.write_modes import NodeWriter as Writer
from dbt.adapters.paimon.plan.write_modes import WriteMode as Way
from dbt.adapters.paimon.plan.write_modes import write_mode_of as way_of

__all__ = ["Increment", "Way", "Writer", "way_of"]
