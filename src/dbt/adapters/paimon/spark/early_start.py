"""Spark's JVM starts while dbt reads the project: the two take as long, and neither needs the other."""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from threading import Thread
from typing import Final

from dbt.adapters.paimon.credentials import PaimonConnectionMethod, PaimonCredentials
from dbt.adapters.paimon.spark.launch import jvm

# dbt's commands that are going to ask Spark (dbt.cli.types.Command); `debug` tells of the start itself.
_COMMANDS: Final = frozenset(
    {
        "build",
        "clone",
        "compile",
        "freshness",
        "generate",
        "retry",
        "run",
        "run-operation",
        "seed",
        "show",
        "snapshot",
        "test",
    }
)

# numpy sets them while it is imported and then takes them away again, unless they are there
# (numpy/core/__init__.py). dbt looks through the environment at each line that it logs, and fails over a name that
# another thread takes away meanwhile.
_OF_NUMPY: Final = ("OPENBLAS_MAIN_FREE", "GOTOBLAS_MAIN_FREE")


def begin(credentials: PaimonCredentials) -> Thread | None:
    """Start the Spark of this process on a thread, which is returned, if this dbt command is going to need one.

    What goes wrong is told by the first connection, which tries again.
    """
    for name in _OF_NUMPY:
        os.environ.setdefault(name, "1")
    embedded = credentials.method == PaimonConnectionMethod.SESSION
    if not embedded or _command() not in _COMMANDS:
        return None
    # A project that cannot be parsed ends dbt before its JVM has started.
    atexit.register(jvm.abandon)
    thread = Thread(target=_start, args=(credentials,), name="spark-start", daemon=True)
    thread.start()
    return thread


def _start(credentials: PaimonCredentials) -> None:
    from dbt.adapters.paimon.spark.session import start

    with suppress(Exception):
        start(credentials)


def _command() -> str:
    from dbt.flags import get_flags

    return str(getattr(get_flags(), "WHICH", ""))
