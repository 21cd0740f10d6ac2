"""Watchdog: kills the embedded JVM unless Python keeps extending its deadline."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

from dbt.adapters.paimon.spark import java_classes

_LOCK: Final = Lock()
# The watchdog of each JVM that this process has started, by PySpark's gateway to it.
_WATCHDOGS: Final[dict[int, Any]] = {}


def arm(name: str, seconds: float | None) -> None:
    """End the JVM in so many seconds, unless this is called again with the name; None removes the deadline.

    Nothing happens without an embedded Spark: a server is not this run's to end.
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
