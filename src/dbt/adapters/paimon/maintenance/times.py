"""Converts users' times to the JVM's wall clock, which Paimon's procedures use (see `sql.clocks`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import is_age, parse_duration
from dbt.adapters.paimon.sql import clocks
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.sql.timestamps import session_moment


def reads_the_jvms_clock(procedure: str, versions: Versions) -> bool:
    """Whether a procedure takes `older_than` as a string, not a TIMESTAMP. Paimon reads it on the JVM's clock."""
    return procedure != "expire_snapshots" or versions.supports(Capability.EXPIRE_SNAPSHOTS_OLDER_THAN_TEXT)


def with_paimons_clock(
    procedure: str,
    arguments: Mapping[str, Any],
    versions: Versions,
    query: Callable[[str], list[Any]],
    options: Callable[[], Mapping[str, str]],
) -> dict[str, Any]:
    """Convert the times in a procedure's arguments to the clock on which Paimon reads them.

    Args:
        arguments: times on the session's clock; `procedures.render` reports invalid ones later.
        query: runs a statement; called only for a time in `older_than`, and for `expire_partitions`.
        options: reads the table's options; called only if the clocks differ.
    """
    given = dict(arguments)
    moment = _moment(given.get("older_than"))
    if moment is not None and reads_the_jvms_clock(procedure, versions):
        instant = f"timestamp {string_literal(moment.isoformat(sep=' '))}"
        text = _evaluate(procedure, query, clocks.as_seconds(clocks.on_jvms_clock(instant)))
        given["older_than"] = datetime.fromisoformat(text)
    if procedure == "expire_partitions" and (ahead := int(_evaluate(procedure, query, clocks.jvms_lead()))):
        # The table's options are the defaults of the arguments.
        table = options() if versions.supports(Capability.EXPIRE_PARTITIONS_BY_TABLE_OPTIONS) else {}
        if given.get("expire_strategy", table.get("partition.expiration-strategy")) != "update-time":
            duration = given.get("expiration_time", table.get("partition.expiration-time"))
            given["expiration_time"] = expiration_time(duration, ahead)
    return given


def expiration_time(duration: Any, ahead: int) -> Any:
    """Adjust the age at which partitions expire, because the JVM's clock is `ahead` seconds ahead of the session's.

    `procedures.render` refuses an invalid age.

    Raises:
        DbtRuntimeError: the age would be negative.
    """
    if not ahead or not is_age(duration):
        return duration
    seconds = parse_duration(str(duration)) // 10**9 + ahead
    if seconds < 0:
        raise DbtRuntimeError(
            f"expire_partitions: expiration_time={duration!r}: Paimon compares the values of partitions with the clock "
            f"of Spark's JVM, which is {-ahead} s behind the session's clock. Give a longer expiration_time, or start "
            "Spark with -Duser.timezone=<the session's time zone>."
        )
    return f"{seconds} s"


def _moment(value: Any) -> datetime | None:
    try:
        return None if value is None else session_moment(value)
    except ValueError:
        return None


def _evaluate(procedure: str, query: Callable[[str], list[Any]], expression: str) -> str:
    try:
        ((value,),) = query(f"select {expression} from {clocks.ONE_ROW}")
    except DbtRuntimeError as exc:
        raise DbtRuntimeError(
            f"{procedure}: Paimon reads times on the clock of Spark's JVM, and this server does not provide that "
            f"clock: {exc.msg}\nRun the operation with `method: session`."
        ) from exc
    return str(value)
