"""The partitions, and when they expire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.config_keys import COLUMNS
from dbt.adapters.paimon.options.table_options import parse_duration
from dbt.adapters.paimon.spec.component import Component, Found, Types, config_key
from dbt.adapters.paimon.spec.config_values import columns_or_property
from dbt.adapters.paimon.spec.foreign_config import NoColumnError, with_columns
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec


@dataclass
class Keys:
    """The config key."""

    # Any: columns, or one or more mappings as in dbt-bigquery (see `foreign_config`).
    partition_by: Any = config_key("The columns of `PARTITIONED BY`", COLUMNS, page="models.md")


def read(config: Mapping[str, Any], properties: dict[str, Any], problems: Problems) -> tuple[str, ...]:
    """The partition columns in a config; removes their option from `properties`."""
    value = config.get("partition_by")
    try:
        value = with_columns(value)
    except NoColumnError as exc:
        problems.add_ignored("partition_by", value, str(exc))
        value = None
    except ValueError as exc:
        problems.add("partition_by", value, str(exc))
        value = None
    return columns_or_property(value, properties, "partition_by", "partition", problems)


def pattern_fault(pattern: str, partition_by: Iterable[str]) -> str:
    """Why a 'partition.timestamp-pattern' does not fit a table's partitions; '' if it does."""
    rest = pattern
    # As in PartitionTimeExtractor, but longer names first, because one name may begin with another.
    for name in sorted(partition_by, key=len, reverse=True):
        rest = rest.replace(f"${name}", "")
    if "$" not in rest:
        return ""
    unknown = rest.split("$", 1)[1].split(" ")[0]
    listed = ", ".join("$" + column for column in partition_by)
    return f"'${unknown}' is not a partition column. Use {listed}" if unknown else ""


def _partition_rules(spec: TableSpec, versions: Versions) -> Found:
    # Up to 1.4, SchemaValidation refuses the option. From 2.0 on, Paimon accepts it, but nothing expires.
    if not spec.partition_by and "partition.expiration-time" in spec.options:
        yield "partition.expiration-time", "needs partitions. Set partition_by, or remove it"


def _pattern_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # PartitionTimeExtractor: names are case-sensitive, and a name that is not replaced cannot be parsed as a time.
    name = "partition.timestamp-pattern"
    if spec.partition_by and (fault := pattern_fault(spec.options.get(name, ""), spec.partition_by)):
        yield name, fault


def _idle_expiry(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # PartitionExpire.expire: the interval starts when a writer opens, and a batch closes its writer before it ends.
    interval = parse_duration(spec.options.get("partition.expiration-check-interval", "1 h"))
    if "partition.expiration-time" in spec.options and interval:
        yield (
            "partition.expiration-time",
            "expires nothing here: a run ends before partition.expiration-check-interval (1 h by default). Set that to "
            "'0 s' in tblproperties, or use `expire_partitions` of maintenance instead",
        )


COMPONENT: Final = Component(
    keys=Keys,
    rules=(_partition_rules,),
    column_rules=(_pattern_rules,),
    advice=(_idle_expiry,),
    # FileStorePathFactory.getPartitionString: Paimon reads stored paths with the option's current value.
    guards=dict.fromkeys(("partition.default-name", "partition.legacy-name"), lambda change, options, versions: True),
)
