"""SQL for the three clocks of a statement: instants, the session's wall clock, and the wall clock of the server's JVM.

A TIMESTAMP is an instant. A user's timestamp string is on the session's wall clock (`spark.sql.session.timeZone`).
Paimon parses strings, and shows the current time and its own times, on the JVM's wall clock (TimeZone.getDefault,
LocalDateTime.now, SnapshotsTable.toRow). The adapter compares only TIMESTAMP_NTZ in UTC, because to_utc_timestamp and
from_utc_timestamp return a TIMESTAMP, which cannot represent an hour that the session's time zone skips.
"""

from __future__ import annotations

from typing import Final

JVM_ZONE: Final = "java_method('java.time.ZoneId', 'systemDefault')"
# One row that the driver computes: an executor may have a different time zone.
ONE_ROW: Final = "(values (1)) as one_row"
_EPOCH: Final = "timestamp_ntz '1970-01-01 00:00:00'"


def utc(instant: str) -> str:
    """Convert a TIMESTAMP to UTC's wall clock."""
    return f"({_EPOCH} + make_dt_interval(0, 0, 0, unix_micros({instant}) * 0.000001))"


def now_in_utc() -> str:
    """The current time on UTC's wall clock."""
    return utc("now()")


def in_utc(jvm_timestamp: str) -> str:
    """Convert a time from Paimon, such as `commit_time` of `$snapshots`, to UTC's wall clock."""
    return f"convert_timezone({JVM_ZONE}, 'UTC', {jvm_timestamp})"


def in_session(jvm_timestamp: str) -> str:
    """Convert a time from Paimon to the session's wall clock."""
    return f"convert_timezone({JVM_ZONE}, current_timezone(), {jvm_timestamp})"


def on_jvms_clock(instant: str) -> str:
    """Convert a TIMESTAMP to the JVM's wall clock, on which Paimon parses strings."""
    return f"convert_timezone('UTC', {JVM_ZONE}, {utc(instant)})"


def now_on_jvms_clock() -> str:
    """The current time on the JVM's wall clock."""
    return on_jvms_clock("now()")


def jvms_lead() -> str:
    """Seconds by which the JVM's wall clock is currently ahead of the session's."""
    return seconds_between("cast(now() as timestamp_ntz)", now_on_jvms_clock())


def jvm_has_summer_time() -> str:
    """Whether the JVM's time zone has daylight saving time."""
    winter, summer = "timestamp_ntz '2026-01-01 12:00:00'", "timestamp_ntz '2026-07-01 12:00:00'"
    return f"{seconds_between(winter, in_utc(winter))} <> {seconds_between(summer, in_utc(summer))}"


def seconds_between(earlier: str, later: str) -> str:
    """Whole seconds between two TIMESTAMP_NTZ."""
    return f"(unix_timestamp({later}) - unix_timestamp({earlier}))"


def epoch_millis(utc_clock: str) -> str:
    """A TIMESTAMP_NTZ in UTC as milliseconds since the epoch."""
    return f"cast(unix_timestamp({utc_clock}) * 1000 + extract(second from {utc_clock}) * 1000 % 1000 as bigint)"


def age_in_seconds(jvm_timestamp: str) -> str:
    """Seconds since a time from Paimon."""
    return seconds_between(in_utc(jvm_timestamp), now_in_utc())


def as_seconds(wall_clock: str) -> str:
    """A TIMESTAMP_NTZ as a string, to the second; date_format would first convert it to a TIMESTAMP."""
    return f"substring(cast({wall_clock} as string), 1, 19)"
