"""The parts of a table. Each module reads and checks its config keys, and decides which changes need a new table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.config_keys import Key, keys_of
from dbt.adapters.paimon.options.table_options import is_immutable
from dbt.adapters.paimon.spec import safeguards, skipping
from dbt.adapters.paimon.spec.component import Component, PropertyChange
from dbt.adapters.paimon.spec.components import (
    aggregates,
    audit,
    buckets,
    fields,
    files,
    iceberg,
    key,
    maintenance,
    merge_engine,
    partitioning,
    properties,
    retention,
)
from dbt.adapters.paimon.spec.table import TableSpec


@dataclass
class TableKeys(
    key.Keys,
    partitioning.Keys,
    buckets.Keys,
    merge_engine.Keys,
    fields.Keys,
    files.Keys,
    retention.Keys,
    audit.Keys,
    iceberg.Keys,
    safeguards.Keys,
    skipping.Keys,
    properties.Keys,
    maintenance.Keys,
):
    """The config keys of tables."""


_OF_ROWS: Final = (key, partitioning, buckets, merge_engine, fields, aggregates)
_OF_FILES_AND_RUNS: Final = (files, retention, audit, iceberg, safeguards, skipping, properties, maintenance)
COMPONENTS: Final[tuple[Component, ...]] = tuple(each.COMPONENT for each in (*_OF_ROWS, *_OF_FILES_AND_RUNS))
TABLE_KEYS: Final = tuple(name for each in COMPONENTS if each.keys for name in keys_of(each.keys))
# Config key -> Paimon option.
OPTION_KEYS: Final[Mapping[str, str]] = {name: option for each in COMPONENTS for name, option in each.options.items()}
# Config key that is a mapping -> (the keys in it, an example).
GROUPED_KEYS: Final[Mapping[str, tuple[Mapping[str, Key], str]]] = {
    name: group for each in COMPONENTS for name, group in each.groups.items()
}
# Options of any version that list columns, which must exist.
NAMING_OPTIONS: Final = frozenset(option for each in COMPONENTS for option in each.columns)
_GUARDS: Final = {option: guard for each in COMPONENTS for option, guard in each.guards.items()}


def rule_faults(spec: TableSpec, versions: Versions) -> Iterator[tuple[str, str]]:
    """For each broken rule, an option (or 'primary_key' / 'partition_by') and the reason with its remedy."""
    for component in COMPONENTS:
        for rule in component.rules:
            yield from rule(spec, versions)


def needs_new_table(change: PropertyChange, options: Mapping[str, str], versions: Versions) -> bool:
    """Whether ALTER cannot make a change to a table with these options, or would lead to wrong rows."""
    if is_immutable(change.name, versions.paimon):
        return True
    return change.name in _GUARDS and _GUARDS[change.name](change, options, versions)
