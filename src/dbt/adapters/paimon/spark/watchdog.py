"""Watchdog: kills the embedded JVM unless Python keeps extending its deadline."""

from __future__ import annotations

from importlib import resources
from threading import Lock
from typing import Any, Final

_SOURCE: Final = "Watchdog.java"
_CLASS: Final = "dbt.paimon.Watchdog"
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
            watchdog = _WATCHDOGS.setdefault(id(gateway), _compiled(gateway))
    if seconds is None:
        watchdog.remove(name)
    else:
        watchdog.set(name, int(seconds * 1000))


def _compiled(gateway: Any) -> Any:
    # Compiled with the compiler that Spark uses for queries, so that no jar must be shipped for one class.
    """Compile it with the compiler that Spark uses for queries, so that no jar must be shipped for one class."""
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook((resources.files("dbt.adapters.paimon.spark") / _SOURCE).read_text(encoding="utf-8"))
    constructor = compiler.getClassLoader().loadClass(_CLASS).getConstructors()[0]
    watchdog = constructor.newInstance(gateway.new_array(gateway.jvm.java.lang.Object, 0))
    watchdog.start()
    return watchdog
