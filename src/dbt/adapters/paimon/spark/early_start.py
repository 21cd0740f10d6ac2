"""Starts Spark's JVM while dbt parses the project, since both take about the same time."""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from threading import Thread
from typing import Final

from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.spark.launch import jvm_process
from dbt.adapters.paimon.spark.runtime import Runtime

# dbt commands that will use Spark (dbt.cli.types.Command), except `debug`, which reports the start itself.
_COMMANDS: Final = frozenset("build clone freshness generate retry run run-operation seed show snapshot test".split())

# While numpy is imported, it sets these and removes them again, unless they were set before (numpy/core/__init__.py).
# dbt iterates over the environment for each line that it logs, and fails if another thread removes a variable.
_NUMPY_VARIABLES: Final = ("OPENBLAS_MAIN_FREE", "GOTOBLAS_MAIN_FREE")


def begin(runtime: Runtime) -> Thread | None:
    """Start Spark on a thread and return the thread; None if this dbt command will not use Spark.

    Errors are not reported here: the first connection tries again and reports them.
    """
    for name in _NUMPY_VARIABLES:
        os.environ.setdefault(name, "1")
    embedded = runtime.credentials.method == PaimonConnectionMethod.SESSION
    if not embedded or _command() not in _COMMANDS or may_end_without_spark():
        return None
    # If the project cannot be parsed, dbt may end before the JVM has started.
    atexit.register(jvm_process.abandon)
    thread = Thread(target=_start, args=(runtime,), name="spark-start", daemon=True)
    thread.start()
    return thread


def may_end_without_spark() -> bool:
    """Whether this is `compile` or `docs generate --empty-catalog`, which need Spark only if a model's Jinja does."""
    from dbt.flags import get_flags

    command = _command()
    return command == "compile" or (command == "generate" and bool(getattr(get_flags(), "EMPTY_CATALOG", False)))


def _start(runtime: Runtime) -> None:
    from dbt.adapters.paimon.spark.session import root_session

    with suppress(Exception):
        root_session(runtime)


def _command() -> str:
    from dbt.flags import get_flags

    return str(getattr(get_flags(), "WHICH", ""))
