"""Checks options that depend on the time zone of Spark's JVM, which may differ from the session's (`sql.clocks`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.spec.config_origin import ConfigOrigin
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import clocks

_EXPIRES: Final = "partition.expiration-time"
_TAGS: Final = "tag.automatic-creation"
_FORMAT: Final = "file.format"
_REMEDY: Final = "Start Spark with -Duser.timezone=<the session's time zone>"


@dataclass(frozen=True)
class _Clock:
    """The JVM's time zone, how many seconds it is ahead of the session's, and whether it has daylight saving time."""

    zone: str
    ahead: int
    summer: bool


def warnings(
    adapter: AdapterProtocol, model: Mapping[str, Any], spec: TableSpec, types: Mapping[str, str]
) -> list[str]:
    """Warnings about options that depend on the JVM's time zone; runs a statement only if the table has one.

    Raises:
        ConfigErrors: partition expiry or a default value would use a time zone that differs from the session's.
    """
    affected = set(_clock_options(spec, types))
    if not affected:
        return []
    try:
        clock = _Clock(*adapter.query(_CLOCK_SQL)[0])
    except DbtRuntimeError as exc:
        clock = _Clock(f"unknown time zone: {exc.msg}", ahead=1, summer=False)
    problems, found, where = Problems(model["name"]), Problems(model["name"]), ConfigOrigin(model["config"])
    refused = affected - {_TAGS, _FORMAT} if clock.ahead else ()
    for name in sorted(refused):
        reason = f"uses the clock of Spark's JVM ({clock.zone}), not the session's. {_REMEDY}"
        problems.add(*where.find(name, spec), reason)
    problems.raise_if_any()
    if _TAGS in affected and clock.ahead:
        reason = f"names tags by the clock of Spark's JVM ({clock.zone}). {_REMEDY}"
        found.add(*where.find(_TAGS, spec), reason)
    orc = Capability.ORC_TIMESTAMPS_OF_ANY_HOUR
    if _FORMAT in affected and clock.summer and not adapter.versions.supports(orc):
        reason = (
            f"timestamps in the hour that {clock.zone}, the time zone of Spark's JVM, skips when daylight saving time "
            "begins are stored an hour late. Use 'parquet', or start Spark with -Duser.timezone=UTC"
        )
        found.add(*where.find(_FORMAT, spec), reason)
    return found.messages


_CLOCK_SQL: Final = (
    f"select {clocks.JVM_ZONE}, {clocks.jvms_lead()}, {clocks.jvm_has_summer_time()} from {clocks.ONE_ROW}"
)


def _clock_options(spec: TableSpec, types: Mapping[str, str]) -> Iterator[str]:
    options = spec.options
    if _EXPIRES in options and options.get("partition.expiration-strategy") != "update-time":
        yield _EXPIRES
    if options.get(_TAGS, "").lower() in ("process-time", "batch") and "sink.process-time-zone" not in options:
        yield _TAGS
    for name, columns, _ in spec.field_options("default-value"):
        # StringToTimestampCastRule parses the default in the JVM's time zone [ran, 0.9.0].
        if any(types.get(column) == "timestamp" for column in columns):
            yield name
    if spec.file_format == "orc" and "timestamp" in " ".join(types.values()):
        yield _FORMAT
