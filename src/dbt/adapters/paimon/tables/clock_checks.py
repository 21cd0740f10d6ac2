"""Checks options that work by the clock of Spark's JVM, which may differ from the session's (see `sql.clocks`)."""

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
    """The JVM's clock: its time zone, seconds ahead of the session's, and whether it has a summer time."""

    zone: str
    ahead: int
    summer: bool


def warnings(
    adapter: AdapterProtocol, model: Mapping[str, Any], spec: TableSpec, types: Mapping[str, str]
) -> list[str]:
    """Warnings about what depends on the JVM's clock; sends no statement unless the table has such options or columns.

    Raises:
        ConfigErrors: partitions would expire, or a default would be read, by another clock than the session's.
    """
    affected = set(_options_of_the_clock(spec, types))
    if not affected:
        return []
    try:
        clock = _Clock(*adapter.query(_CLOCK_SQL)[0])
    except DbtRuntimeError as exc:
        clock = _Clock(f"an unknown time zone: {exc.msg}", ahead=1, summer=False)
    problems, found, where = Problems(model["name"]), Problems(model["name"]), ConfigOrigin(model["config"])
    refused = affected - {_TAGS, _FORMAT} if clock.ahead else ()
    for name in sorted(refused):
        reason = f"counts on the clock of Spark's JVM, which has {clock.zone}, and not on the session's. {_REMEDY}"
        problems.add(*where.find(name, spec), reason)
    problems.raise_if_any()
    if _TAGS in affected and clock.ahead:
        reason = f"names tags by the clock of Spark's JVM, which has {clock.zone}. {_REMEDY}"
        found.add(*where.find(_TAGS, spec), reason)
    orc = Capability.ORC_TIMESTAMPS_OF_ANY_HOUR
    if _FORMAT in affected and clock.summer and not adapter.versions.supports(orc):
        reason = (
            f"a timestamp in the hour that a change of clocks skips in {clock.zone}, the time zone of Spark's JVM, is "
            "stored an hour late. Use 'parquet', or start Spark with -Duser.timezone=UTC"
        )
        found.add(*where.find(_FORMAT, spec), reason)
    return found.messages


_CLOCK_SQL: Final = (
    f"select {clocks.JVM_ZONE}, {clocks.jvms_lead()}, {clocks.jvm_has_summer_time()} from {clocks.ONE_ROW}"
)


def _options_of_the_clock(spec: TableSpec, types: Mapping[str, str]) -> Iterator[str]:
    options = spec.options
    if _EXPIRES in options and options.get("partition.expiration-strategy") != "update-time":
        yield _EXPIRES
    if options.get(_TAGS, "").lower() in ("process-time", "batch") and "sink.process-time-zone" not in options:
        yield _TAGS
    for name, columns, _ in spec.field_options("default-value"):
        # StringToTimestampCastRule [ran, 0.9.0].
        if any(types.get(column) == "timestamp" for column in columns):
            yield name
    if spec.file_format == "orc" and "timestamp" in " ".join(types.values()):
        yield _FORMAT
