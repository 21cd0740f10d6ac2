"""A REST catalog: the server of Paimon's own tests in a separate process, with its tables in a local folder."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from integration.services import maven
from integration.services.process import running

# The server is in the jar of paimon-core's tests, and uses okhttp's HTTP server.
PAIMON = "1.4.2"
_JARS = (
    ("org.apache.paimon", "paimon-bundle", PAIMON),
    ("com.squareup.okhttp3", "mockwebserver", "4.12.0"),
    ("com.squareup.okhttp3", "okhttp", "4.12.0"),
    ("com.squareup.okio", "okio-jvm", "3.6.0"),
    ("org.jetbrains.kotlin", "kotlin-stdlib", "1.8.21"),
    ("junit", "junit", "4.13.2"),
)
_URL = re.compile(r"listens at (http://\S+?)/?\s")


@dataclass(frozen=True)
class RestCatalog:
    """Its address, the name of its warehouse, a valid token, and the folder of its tables."""

    uri: str
    warehouse: str
    token: str
    folder: Path


@contextlib.contextmanager
def rest_catalog(folder: Path) -> Iterator[RestCatalog]:
    """Run a server until the block ends.

    Args:
        folder: for its tables and its log.

    Raises:
        RuntimeError: the server did not start; with the end of its log.
    """
    import pyspark

    tables = folder / "tables"
    tables.mkdir(parents=True)
    jars = [maven.jar(*coordinates) for coordinates in _JARS]
    jars.append(maven.jar("org.apache.paimon", "paimon-core", PAIMON, "tests"))
    hadoop = Path(pyspark.__file__).parent / "jars" / "*"
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    class_path = os.pathsep.join(map(str, [*jars, hadoop]))
    token = "a-token"
    command = [
        *(java, "-cp", class_path, Path(__file__).parent / "Server.java"),
        *(tables.as_uri(), "lake", token),
    ]
    log = folder / "server.log"
    with running(command, log, []) as process:
        end = time.monotonic() + 300
        while (found := _URL.search(log.read_text(errors="replace"))) is None:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"no REST catalog:\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.2)
        yield RestCatalog(found[1], "lake", token, tables)
