"""The error when Spark's JVM exits during a run, usually for lack of memory; py4j only reports a lost connection."""

from __future__ import annotations

import signal
from typing import Final

from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.paimon.errors.messages import MEMORY_ADVICE
from dbt.adapters.paimon.spark.launch.jvm_process import Spawned, exit_status
from dbt.adapters.paimon.spark.launch.spark_log import log_path

# Seconds to wait for the exit: a JVM that exits stops answering before it runs its shutdown hooks.
_LONGEST_END: Final = 5
# org.apache.spark.util.SparkExitCode.OOM
_OUT_OF_MEMORY: Final = 52
# Watchdog.STATUS of Watchdog.java
_WATCHDOG: Final = 97


def error(exc: BaseException) -> DbtDatabaseError | None:
    """The error to raise instead of PySpark's if this process's JVM has exited; None if it has not."""
    from py4j.protocol import Py4JError, Py4JJavaError

    unanswered = isinstance(exc, OSError) or (isinstance(exc, Py4JError) and not isinstance(exc, Py4JJavaError))
    # An orderly exit first cancels the JVM's jobs, so their errors may arrive before it has exited.
    status = exit_status(_LONGEST_END if unanswered or Spawned.ended_because else 0)
    return None if status is None else DbtDatabaseError(_message(status))


def _message(status: int) -> str:
    if why := Spawned.ended_because:
        what, advice = f"{why} So this run has ended Spark's JVM.", ""
    else:
        how, advice = _cause(status)
        what = f"Spark's JVM has exited: {how}."
    parts = [
        f"{what} Its log is {log_path()}.",
        advice,
        "Each table is in its old state or its new one: `dbt retry` runs the rest.",
    ]
    return "\n".join(part for part in parts if part)


def _cause(status: int) -> tuple[str, str]:
    """The cause of an exit status (`subprocess.Popen.returncode`), and the remedy if there is one."""
    if status == _OUT_OF_MEMORY:
        return "it was out of memory", MEMORY_ADVICE
    if status == _WATCHDOG:
        return (
            "this run's lock on a table, a lease in S3, could not be renewed in time, and another run might write it",
            "Either the store did not answer, or this process was stopped or starved of CPU time.",
        )
    if status == -signal.SIGKILL:
        return (
            "it was killed (SIGKILL), usually by the system because memory ran out",
            "Give Spark less memory than the machine has to spare (spark.driver.memory), or run fewer `threads`.",
        )
    return (f"it was stopped by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"), ""
