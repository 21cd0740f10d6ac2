"""Watchdog: kills the embedded JVM unless Python keeps extending its deadline."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

from dbt.adapters.paimon.spark import java_classes

_LOCK: Final = Lock()
# The watchdogs of the JVMs that this process has started, by the id of PySpark's gateway.
_WATCHDOGS: Final[dict[int, Any]] = {}


def arm(name: str, seconds: float | None) -> None:
    """Set the deadline called `name`: the JVM is killed after this many seconds. None removes the deadline.

    Does nothing without an embedded Spark, because a server must not be killed.
    """
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    with _LOCK:
        watchdog = _WATCHDOGS.get(id(gateway))
        if watchdog is None:
            if seconds is None:
                return
            watchdog = _WATCHDOGS.setdefault(id(gateway), _started(gateway))
    if seconds is None:
        watchdog.remove(name)
    else:
        watchdog.set(name, int(seconds * 1000))


def _started(gateway: Any) -> Any:
    no_arguments = gateway.new_array(gateway.jvm.java.lang.Object, 0)
    watchdog = java_classes.constructor(gateway.jvm, "Watchdog").newInstance(no_arguments)
    watchdog.start()
    return watchdog
