"""The constraints and dbt capabilities that the adapter supports (see `capabilities` for Paimon's)."""

from __future__ import annotations

from typing import Final

from dbt.adapters.base.impl import ConstraintSupport
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt_common.contracts.constraints import ConstraintType

# Paimon enforces NOT NULL, and keeps a primary key unique by merging; it has no other constraints.
CONSTRAINTS: Final = {
    ConstraintType.check: ConstraintSupport.NOT_SUPPORTED,
    ConstraintType.not_null: ConstraintSupport.ENFORCED,
    ConstraintType.unique: ConstraintSupport.NOT_SUPPORTED,
    ConstraintType.primary_key: ConstraintSupport.ENFORCED,
    ConstraintType.foreign_key: ConstraintSupport.NOT_SUPPORTED,
}

CAPABILITIES: Final = CapabilityDict(
    {
        capability: CapabilitySupport(Support.Full)
        for capability in (
            Capability.SchemaMetadataByRelations,
            Capability.GetCatalogForSingleRelation,
            Capability.TableLastModifiedMetadata,
            Capability.TableLastModifiedMetadataBatch,
            # Batches are prepared concurrently; their write statements run one at a time (see microbatch.sql).
            Capability.MicrobatchConcurrency,
            Capability.CatalogsV2,
        )
    }
)
