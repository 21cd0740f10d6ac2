"""Names that Paimon gives a meaning (aggregate functions, attributes of fields, file formats), with their versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from packaging.version import Version

from dbt.adapters.paimon.capabilities.version_numbers import reaches


def _by_name(names: Mapping[str, str]) -> Mapping[str, str]:
    return {name: first for first, group in names.items() for name in group.split()}


# Aggregate functions: name -> first version. Source: FieldAggregator*'s NAME constants at the release tags.
# first_not_null_value is the old name of first_non_null_value (FieldFirstNonNullValueAgg.LEGACY_NAME).
AGGREGATE_FUNCTIONS: Final[Mapping[str, str]] = _by_name(
    {
        "0.9": "sum product max min last_value last_non_null_value first_value first_non_null_value "
        "first_not_null_value listagg bool_and bool_or collect merge_map nested_update theta_sketch hll_sketch "
        "rbm32 rbm64",
        "1.4": "merge_map_with_keytime nested_partial_update",
    }
)

# Attributes of `fields.<column>.<attribute>`: name -> first version. Source: the constants next to
# CoreOptions.FIELDS_PREFIX, CoreOptions.STATS_MODE_SUFFIX and PartialUpdateMergeFunction.SEQUENCE_GROUP.
FIELD_ATTRIBUTES: Final[Mapping[str, str]] = _by_name(
    {
        "0.9": "aggregate-function ignore-retract default-value sequence-group distinct list-agg-delimiter "
        "stats-mode nested-key",
        "1.1": "count-limit",
        "1.4": "ts-field",
        "2.0": "nested-sequence-field nested-key-null-strategy map.storage-layout "
        "map.shared-shredding.max-columns map.shared-shredding.column-placement-policy pk-vector.index.type "
        "pk-vector.index.options pk-vector.distance.metric pk-full-text.index.options pk-btree.index.options "
        "pk-bitmap.index.options",
    }
)

# Formats of data files: name -> first version. Source: FileFormatFactory's services at the release tags.
FILE_FORMATS: Final[Mapping[str, str]] = _by_name(
    {"0.9": "parquet orc avro", "1.3": "csv json lance", "1.4": "text", "2.0": "mosaic vortex row"}
)


def names_at(names: Mapping[str, str], paimon: str | Version) -> list[str]:
    """The names that a Paimon version has; `names` maps each one to its first version, as AGGREGATE_FUNCTIONS does."""
    return [name for name, since in names.items() if reaches(paimon, since)]
