"""Spark's log, next to dbt's own: the JVM's output and log messages, without secrets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from threading import Thread
from typing import Any, Final

from dbt.adapters.paimon.errors.redaction import blank
from dbt.adapters.paimon.machine import private_files
from dbt.adapters.paimon.spark.launch.hidden_settings import utf16

# The system property that log4j2.properties reads.
_SECRETS_PROPERTY: Final = "dbt.paimon.secrets"


def log_path() -> Path:
    """The path of Spark's log: `spark.log` next to dbt's own."""
    try:
        from dbt.flags import get_flags

        folder = Path(get_flags().LOG_PATH)
    except (ImportError, AttributeError, TypeError):
        folder = Path(os.environ.get("DBT_LOG_PATH", "logs"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = private_files.temporary_folder()
    return (folder / "spark.log").absolute()


def log_options(log: Path) -> str:
    """The Java options that make log4j write to this file."""
    properties = resources.files("dbt.adapters.paimon.spark.launch") / "log4j2.properties"
    level = os.environ.get("DBT_PAIMON_LOG_LEVEL", "WARN")
    return f'-Dlog4j2.configurationFile="{properties}" -Ddbt.paimon.log="{log}" -Ddbt.paimon.log.level={level}'


class Output:
    """Copies a JVM's output to the log without secrets: Ivy prints the user and password of repositories."""

    def __init__(self, log: Path, secrets: Sequence[str]) -> None:
        source, self.end = os.pipe()
        self._open = self._wanted = True
        self._lines: list[str] = []
        self._thread = Thread(target=self._copy, args=(source, log, tuple(secrets)), name="spark-log", daemon=True)
        self._thread.start()

    def _copy(self, source: int, log: Path, secrets: Sequence[str]) -> None:
        with os.fdopen(source, encoding="utf-8", errors="replace") as lines, log.open("a") as file:
            for line in lines:
                shown = blank(line, secrets)
                file.write(shown)
                file.flush()
                if self._wanted:
                    self._lines.append(shown)

    def text(self) -> str:
        """All output of a process that has ended."""
        self._close_end()
        self._thread.join(timeout=10)
        return "".join(self._lines)

    def close(self) -> None:
        """Stop keeping the output; it is still copied to the log while the JVM lives."""
        self._wanted = False
        self._close_end()

    def _close_end(self) -> None:
        if self._open:
            self._open = False
            os.close(self.end)


def keep_out_of_the_log(gateway: Any, secrets: Sequence[str]) -> None:
    """Make log4j mask these secrets; log4j2.properties already masks what looks like a secret."""
    if not secrets:
        return
    pattern = "|".join(utf16(secret) for secret in secrets)
    gateway.jvm.java.lang.System.setProperty(_SECRETS_PROPERTY, pattern)
    gateway.jvm.org.apache.logging.log4j.core.config.Configurator.reconfigure()
