"""Which table snapshots are retained, and which of them get a tag (see `run_tag` for `table_tag`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.config_keys import MAPPING, Key
from dbt.adapters.paimon.options.table_options import canonical
from dbt.adapters.paimon.spec.component import Component, Found, Types, config_key
from dbt.adapters.paimon.spec.table import TableSpec


@dataclass
class Keys:
    """The config keys."""

    snapshot_retention: dict[str, Any] | None = config_key(
        "How many table snapshots are kept, and for how long", MAPPING, page="maintenance.md#table-snapshots"
    )
    auto_tags: dict[str, Any] | None = config_key(
        "Paimon tags one table snapshot per period", MAPPING, page="time-travel.md#tags"
    )
    # Any: a name, or {name, time_retained, if_exists}
    table_tag: Any = config_key(
        "Tags the table snapshot that a run writes", "a name, or a mapping", page="time-travel.md#tags"
    )


_RETENTION_KEYS: Final[Mapping[str, Key]] = {
    "num_retained_min": Key("How many are kept at any age", option="snapshot.num-retained.min"),
    "num_retained_max": Key("How many are kept at most", option="snapshot.num-retained.max"),
    "time_retained": Key("How long a table snapshot is kept", option="snapshot.time-retained"),
}
_AUTO_TAG_KEYS: Final[Mapping[str, Key]] = {
    "creation": Key(
        "Which clock ends a period; on Spark `process-time`, and from Paimon 1.1 `batch`, one tag per day",
        option="tag.automatic-creation",
    ),
    "period": Key("The length of a period", option="tag.creation-period"),
    "delay": Key("How long after a period's end its tag is made", option="tag.creation-delay"),
    "formatter": Key("How the period is written in the tag's name", option="tag.period-formatter"),
    "num_retained_max": Key(
        "How many automatic tags are kept at most; not with `batch`", option="tag.num-retained-max"
    ),
    "time_retained": Key(
        "How long a tag is kept; the next commit after that deletes it", option="tag.default-time-retained"
    ),
}


def _retention_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation: min >= 1 and min <= max, for table snapshots and changelogs, defaults included.
    for family in ("snapshot", "changelog"):
        low_name, high_name = f"{family}.num-retained.min", f"{family}.num-retained.max"
        if low_name not in spec.options and high_name not in spec.options:
            continue
        low = _retained(spec, family, "min", 1, versions)
        high = _retained(spec, family, "max", low, versions)
        if low < 1:
            yield low_name, "at least 1 is needed, the newest one is always kept. Use 1 or more"
        elif low > high:
            origin = "" if low_name in spec.options else ", Paimon's default"
            yield (
                high_name if origin else low_name,
                f"the minimum ({low}{origin}) is above the maximum ({high}). "
                f"Set num_retained_min to {high} or less, or raise num_retained_max",
            )


def _retained(spec: TableSpec, family: str, bound: str, invalid: int, versions: Versions) -> int:
    """How many table snapshots or changelogs to retain; `invalid` if the value cannot be parsed.

    Without options of their own, changelogs use those of the snapshots.
    """
    name = f"{family}.num-retained.{bound}"
    if name not in spec.options:
        name = f"snapshot.num-retained.{bound}"
    parsed = canonical(name, spec.options.get(name), versions.paimon)
    return parsed if isinstance(parsed, int) else invalid


def _background_expiry_rules(spec: TableSpec, versions: Versions) -> Found:
    # TableCommitImpl.close: shutdownNow interrupts the thread that expires snapshots.
    name = "snapshot.expire.execution-mode"
    if spec.options.get(name, "").lower() == "async":
        yield (
            name,
            "a dbt run writes in batches, and the end of a batch interrupts what still expires in the background. "
            "Remove it: sync is the default",
        )


def _tag_rules(spec: TableSpec, versions: Versions) -> Found:
    # TagBatchCreation.expireTag counts and deletes tags of every kind, oldest first.
    name = "tag.num-retained-max"
    if name in spec.options and spec.options.get("tag.automatic-creation", "").lower() == "batch":
        yield (
            name,
            "with creation 'batch', Paimon would delete the oldest tags of any kind, also those that you or table_tag "
            "made, and those of branches. Use time_retained instead",
        )


def _no_tags(spec: TableSpec, types: Types, versions: Versions) -> Found:
    name = "tag.automatic-creation"
    creation = spec.options.get(name, "").lower()
    if creation == "batch" and (missing := versions.explain(Capability.BATCH_TAGS)):
        yield name, f"makes no tag here: {missing}"
    if creation == "watermark":
        # TagTimeExtractor.WatermarkExtractor reads a snapshot's watermark, which Spark's writers do not set.
        yield name, "makes no tag here: Spark's commits have no watermark. Use 'process-time'"


COMPONENT: Final = Component(
    keys=Keys,
    groups={
        "snapshot_retention": (_RETENTION_KEYS, "{'num_retained_max': 20}"),
        "auto_tags": (_AUTO_TAG_KEYS, "{'creation': 'process-time', 'period': 'daily'}"),
    },
    rules=(_retention_rules, _tag_rules),
    unread_rules=(_background_expiry_rules,),
    advice=(_no_tags,),
)
