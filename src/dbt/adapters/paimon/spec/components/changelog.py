"""The changes that readers of a table see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec.component import Component, Found, config_key
from dbt.adapters.paimon.spec.table import TableSpec


@dataclass
class Keys:
    """The config key."""

    changelog_producer: str | None = config_key(
        "The changes that readers see: none, those of the input, or old and new values",
        option="changelog-producer",
        page="changelog.md",
    )


def _changelog_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateTableSchema
    producer = spec.changelog_producer
    if spec.merge_engine == "first-row" and producer not in ("none", "lookup"):
        yield "changelog-producer", "first-row supports only 'none' and 'lookup'. Use one of them"
    if spec.is_true("streaming-read-overwrite"):
        if not spec.primary_key:
            yield "streaming-read-overwrite", "needs a primary key. Set primary_key, or remove it"
        elif producer in ("full-compaction", "lookup"):
            yield (
                "streaming-read-overwrite",
                f"returns changes twice with changelog_producer='{producer}'. Remove one",
            )
    both = producer == "lookup" and "full-compaction.delta-commits" in spec.options
    if both and (missing := versions.explain(Capability.LOOKUP_WITH_DELTA_COMMITS)):
        yield "full-compaction.delta-commits", missing


COMPONENT: Final = Component(
    keys=Keys,
    columns=("changelog-producer.row-deduplicate-ignore-fields",),
    rules=(_changelog_rules,),
)
