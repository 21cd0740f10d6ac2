"""Ends the JVM of an embedded Spark at a time that has to be put off again and again, even if Python stands still."""

from __future__ import annotations

from importlib import resources
from threading import Lock
from typing import Any, Final

_SOURCE: Final = "Fuse.java"
_CLASS: Final = "dbt.paimon.Fuse"
_LOCK: Final = Lock()
# The fuse of each JVM that this process has started, by PySpark's gateway to it.
_FUSES: Final[dict[int, Any]] = {}


def burn(name: str, seconds: float | None) -> None:
    """End the JVM in so many seconds, unless this is called again with the name.

    Nothing is done without an embedded Spark: a server is not this run's to end.

    Args:
        name: of what has to go on in time.
        seconds: from now; None: not at all.
    """
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    with _LOCK:
        fuse = _FUSES.get(id(gateway))
        if fuse is None:
            if seconds is None:
                return
            fuse = _FUSES.setdefault(id(gateway), _compiled(gateway))
    if seconds is None:
        fuse.remove(name)
    else:
        fuse.set(name, int(seconds * 1000))


def _compiled(gateway: Any) -> Any:
    # Compiled with the compiler that Spark uses for queries, so that no jar must be shipped for one class.
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook((resources.files("dbt.adapters.paimon.spark") / _SOURCE).read_text(encoding="utf-8"))
    constructor = compiler.getClassLoader().loadClass(_CLASS).getConstructors()[0]
    fuse = constructor.newInstance(gateway.new_array(gateway.jvm.java.lang.Object, 0))
    fuse.start()
    return fuse
