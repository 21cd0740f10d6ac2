"""Passes secret settings to the JVM in private files, because every user can see the JVM's command line."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from dbt.adapters.paimon.errors.redaction import secrets_of
from dbt.adapters.paimon.machine.private_files import write_own

JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
_SUBMIT_ARGUMENTS: Final = "PYSPARK_SUBMIT_ARGS"
# PySpark's default for the variable.
_NO_ARGUMENTS: Final = "pyspark-shell"


@contextmanager
def hidden(conf: Mapping[str, str], secrets: Sequence[str]) -> Iterator[dict[str, str]]:
    """The settings that may be on a command line; the others are in private files inside the block.

    A setting is private if it contains one of the known secrets, or looks like a secret.
    """
    shown = dict(conf)
    private = {key: shown.pop(key) for key, value in conf.items() if _is_private(key, value, secrets)}
    if not private:
        yield shown
        return
    folder = Path(tempfile.mkdtemp(prefix="dbt-paimon-"))
    before = os.environ.get(_SUBMIT_ARGUMENTS) or _NO_ARGUMENTS
    try:
        if (options := private.pop(JAVA_OPTIONS, None)) is not None:
            # Java 9 and later read options from a file that is named after an @.
            shown[JAVA_OPTIONS] = f"@{folder / 'java'}"
            write_own(folder / "java", "\n".join(_java_argument(part) for part in shlex.split(options)))
        if private:
            # Spark reads this file instead of spark-defaults.conf, so it repeats that file's settings.
            properties = "".join(f"{key}={_property(value)}\n" for key, value in private.items())
            path = folder / "spark.conf"
            write_own(path, f"{spark_defaults()}\n{properties}")
            os.environ[_SUBMIT_ARGUMENTS] = f"--properties-file {shlex.quote(str(path))} {before}"
        yield shown
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        # Not removed: dbt fails if a variable disappears while dbt iterates over the environment (see `early_start`).
        if private:
            os.environ[_SUBMIT_ARGUMENTS] = before


def _is_private(key: str, value: str, secrets: Sequence[str]) -> bool:
    return bool(secrets_of([(key, value)])) or any(secret in value for secret in secrets)


def _java_argument(text: str) -> str:
    """Quote an argument for an argument file of `java` ("java Command-Line Argument Files" in its documentation)."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _property(text: str) -> str:
    """Escape a value for java.util.Properties.load."""
    return re.sub(r"[^\x21-\x7e]", lambda found: utf16(found[0]), text.replace("\\", "\\\\"))


def utf16(text: str) -> str:
    """Escape each character for properties files and for Java's regular expressions."""
    return re.sub("(....)", r"\\u\1", text.encode("utf-16-be").hex())


def spark_defaults() -> str:
    """The text of the spark-defaults.conf that Spark's launcher reads."""
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home()) / "conf"
    path = Path(folder) / "spark-defaults.conf"
    return path.read_text() if path.is_file() else ""
