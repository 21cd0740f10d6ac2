"""Flink in one JVM with Paimon's connector: tests send SQL and get rows.

Flink's jars come from `apache-flink-libraries` on PyPI, the connector from Maven Central, Hadoop and py4j from PySpark.
Each statement that reads or writes is a job on its own mini cluster within that JVM.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyspark
from py4j.java_gateway import GatewayClient, GatewayParameters, JavaGateway, JavaObject
from py4j.protocol import ERROR, REFERENCE_TYPE

from integration.services import maven
from integration.services.process import LOOPBACK, SHORT_LIVED, free_port, running

VERSION: Final = "1.20.1"
# Seconds to wait for a job, on a busy machine.
TIMEOUT: Final = 180
_LINE: Final = VERSION.rpartition(".")[0]
_LIBRARIES: Final = f"apache-flink-libraries=={VERSION}"
# Jars from PySpark's folder: the file systems that Paimon's catalog needs, and the bridge to Python.
_OF_SPARK: Final = ("hadoop-client-api-*", "hadoop-client-runtime-*", "commons-logging-*", "py4j-*")
# Flink's own options for Java 17 (`env.java.opts.all` in its config.yaml).
_EXPORTED: Final = (
    *("java.base/sun.net.util", "java.rmi/sun.rmi.registry", "java.security.jgss/sun.security.krb5"),
    *("jdk.compiler/com.sun.tools.javac.api", "jdk.compiler/com.sun.tools.javac.file"),
    *("jdk.compiler/com.sun.tools.javac.parser", "jdk.compiler/com.sun.tools.javac.tree"),
    "jdk.compiler/com.sun.tools.javac.util",
)
_OPENED: Final = tuple(
    f"java.base/{package}"
    for package in (
        *("java.lang", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.lang.reflect", "java.text"),
        *("java.time", "java.util", "java.util.concurrent", "java.util.concurrent.atomic"),
        "java.util.concurrent.locks",
    )
)
# A streaming job commits at each checkpoint.
_SETTINGS: Final = {
    "execution.target": "local",
    "execution.checkpointing.interval": "500 ms",
    "parallelism.default": "1",
    "table.local-time-zone": "UTC",
    "rest.bind-port": "0",
    # Paimon's threads outlive the job that started them. Flink's check for this makes the next job's writes to S3 fail.
    "classloader.check-leaked-classloader": "false",
    # Small, because a mini cluster allocates its buffers when it starts, and several may run at once.
    "taskmanager.memory.network.min": "32 mb",
    "taskmanager.memory.network.max": "32 mb",
    "taskmanager.memory.managed.size": "128 mb",
}

Row = tuple[Any, ...]


class FlinkError(RuntimeError):
    """Flink's error, with its causes."""


class _Client(GatewayClient):  # type: ignore[misc]
    """PySpark patches py4j to treat every Java error as Spark's; this client raises Flink's errors."""

    def send_command(self, command: str, retry: bool = True, binary: bool = False) -> Any:
        answer = super().send_command(command, retry, binary)
        text = answer[0] if binary else answer
        if not text.startswith(ERROR + REFERENCE_TYPE):
            return answer
        error, told = JavaObject(text[2:], self), []
        while error is not None:
            told.append(str(error.toString()))
            error = error.getCause()
        # Leave out the parser's long list of expected tokens.
        raise FlinkError("\n".join(told).partition("Was expecting one of")[0])


class _Gateway(JavaGateway):  # type: ignore[misc]
    def _create_gateway_client(self) -> GatewayClient:
        return _Client(gateway_parameters=self.gateway_parameters)


@dataclass
class Job:
    """A running job; `result` is Flink's TableResult."""

    gateway: JavaGateway
    result: Any

    @property
    def status(self) -> str:
        """`RUNNING`, `FINISHED`, `FAILED`, …; `CLOSED` once its mini cluster is gone."""
        try:
            return str(self._client().getJobStatus().get())
        except FlinkError as error:
            # The mini cluster of an ended job does not answer.
            if "already been shut down" in str(error):
                return "CLOSED"
            raise

    def wait(self) -> None:
        """Wait until the job ends by itself.

        Raises:
            FlinkError: the job failed, or did not end in time.
        """
        getattr(self.result, "await")(TIMEOUT, self.gateway.jvm.java.util.concurrent.TimeUnit.SECONDS)

    def cancel(self) -> None:
        """Cancel the job if it still runs; rows after the last checkpoint are not committed."""
        with contextlib.suppress(FlinkError):
            self._client().cancel().get()

    def _client(self) -> Any:
        return self.result.getJobClient().get()


@dataclass
class Reader:
    """A streaming query, and the rows that it has returned so far."""

    job: Job
    _rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Cancel the query."""
        self.job.cancel()
        self._thread.join(TIMEOUT)

    def take(self, count: int) -> list[Row]:
        """The first rows, each with its kind (`+I`, `-U`, `+U`, `-D`) in front.

        Raises:
            AssertionError: the rows did not arrive in time.
        """
        end = time.monotonic() + TIMEOUT
        while len(self._rows) < count:
            assert time.monotonic() < end, f"{len(self._rows)} of {count} rows: {self._rows}"
            time.sleep(0.1)
        return self._rows[:count]

    def _read(self) -> None:
        # A cancelled job ends the iteration with an error.
        with contextlib.suppress(FlinkError):
            for row in _each(self.job.result):
                self._rows.append((str(row.getKind().shortString()), *_values(row)))


@dataclass
class Session:
    """Runs SQL on one warehouse.

    Attributes:
        schema: replaces `{schema}` in statements.
    """

    gateway: JavaGateway
    warehouse: Path
    schema: str
    _environments: dict[tuple[bool, str], Any] = field(default_factory=dict)

    def rows(self, sql: str, settings: Mapping[str, str] | None = None) -> list[Row]:
        """The rows of a batch query, in the order in which Flink returns them."""
        environment = self._environment(streaming=False, settings=settings)
        return [_values(row) for row in _each(environment.executeSql(self._text(sql)))]

    def run(self, sql: str, settings: Mapping[str, str] | None = None) -> None:
        """Run a statement and wait until it is done; INSERT and CALL are batch jobs."""
        environment = self._environment(streaming=False, settings=settings)
        result = environment.executeSql(self._text(sql))
        getattr(result, "await")()
        # A procedure's job is only done once its result has been read.
        for _ in _each(result):
            pass

    @contextlib.contextmanager
    def writing(self, sql: str, settings: Mapping[str, str] | None = None) -> Iterator[Job]:
        """Run an INSERT as a streaming job; it is cancelled at the end of the block if it still runs."""
        job = self._job(sql, settings)
        try:
            yield job
        finally:
            job.cancel()

    @contextlib.contextmanager
    def reading(self, sql: str) -> Iterator[Reader]:
        """Run a streaming query; it is cancelled at the end of the block."""
        reader = Reader(self._job(sql))
        try:
            yield reader
        finally:
            reader.close()

    def go_on(self, sql: str) -> None:
        """Run a CALL whose job runs until Flink's JVM ends, because a procedure returns no handle to it."""
        self._environment(streaming=True, settings=None).executeSql(self._text(sql))

    def define(self, sql: str, settings: Mapping[str, str] | None = None) -> None:
        """Create a temporary table or view, for batch and streaming statements with the same settings."""
        for streaming in (False, True):
            environment = self._environment(streaming=streaming, settings=settings)
            environment.executeSql(self._text(sql))

    def _job(self, sql: str, settings: Mapping[str, str] | None = None) -> Job:
        environment = self._environment(streaming=True, settings=settings)
        return Job(self.gateway, environment.executeSql(self._text(sql)))

    def _text(self, sql: str) -> str:
        return sql.replace("{schema}", f"paimon.`{self.schema}`").replace("{warehouse}", str(self.warehouse))

    def _environment(self, *, streaming: bool, settings: Mapping[str, str] | None) -> Any:
        key = streaming, repr(sorted((settings or {}).items()))
        if key not in self._environments:
            self._environments[key] = self._made(streaming, {**_SETTINGS, **(settings or {})})
        return self._environments[key]

    def _made(self, streaming: bool, settings: Mapping[str, str]) -> Any:
        api = self.gateway.jvm.org.apache.flink
        configuration = api.configuration.Configuration()
        if not streaming:
            # Without this setting, the call of a procedure does not wait for its job.
            settings = {"table.dml-sync": "true", **settings}
        for name, value in settings.items():
            configuration.setString(name, value)
        builder = api.table.api.EnvironmentSettings.newInstance().withConfiguration(configuration)
        builder = builder.inStreamingMode() if streaming else builder.inBatchMode()
        environment = api.table.api.TableEnvironment.create(builder.build())
        environment.executeSql(f"create catalog paimon with ('type' = 'paimon', 'warehouse' = 'file:{self.warehouse}')")
        environment.useCatalog("paimon")
        return environment


@contextlib.contextmanager
def flink(folder: Path, connector: str) -> Iterator[JavaGateway]:
    """Run a JVM with Flink until the block ends; its jobs end with it.

    Args:
        folder: for its log and the temporary files of its jobs.
        connector: Paimon's version.

    Raises:
        RuntimeError: Flink did not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    options = [f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTED]
    options += [f"--add-opens={name}=ALL-UNNAMED" for name in _OPENED]
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    command = [
        *(java, "-Xmx1500m", *SHORT_LIVED["JAVA_TOOL_OPTIONS"].split(), *options),
        *(f"-Djava.io.tmpdir={folder}", f"-Dlog4j.configurationFile={_logging(folder)}"),
        *("-cp", os.pathsep.join(map(str, _jars(connector))), "py4j.GatewayServer", str(port)),
    ]
    with running(command, folder / "flink.log", [port], cwd=folder):
        parameters = GatewayParameters(address=LOOPBACK, port=port, auto_convert=True, enable_memory_management=False)
        gateway = _Gateway(gateway_parameters=parameters)
        try:
            yield gateway
        finally:
            gateway.close()


def _logging(folder: Path) -> Path:
    path = folder / "log4j2.properties"
    path.write_text(
        "rootLogger.level = warn\nrootLogger.appenderRef.out.ref = out\nappender.out.name = out\n"
        "appender.out.type = CONSOLE\nappender.out.layout.type = PatternLayout\n"
        "appender.out.layout.pattern = %d %-5p %c - %m%n\n"
    )
    return path


def _jars(connector: str) -> list[Path]:
    """The jars of the class path: Flink's, Paimon's for Flink and S3, and Hadoop's."""
    of_spark = Path(pyspark.__file__).parent / "jars"
    return [
        *sorted(_distribution().glob("*.jar")),
        *(maven.jar("org.apache.paimon", name, connector) for name in (f"paimon-flink-{_LINE}", "paimon-s3")),
        *(jar for pattern in _OF_SPARK for jar in sorted(of_spark.glob(f"{pattern}.jar"))),
    ]


def _distribution() -> Path:
    """The folder of Flink's jars, fetched at the first call."""
    folder = maven.cache() / f"flink-{VERSION}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as part:
            _unpack(_fetched(Path(part)), Path(part, "lib"))
            with contextlib.suppress(OSError):  # another process was faster
                Path(part, "lib").rename(folder)
    return folder


def _fetched(folder: Path) -> Path:
    # A virtual environment made by uv has no pip.
    has_pip = not subprocess.run(
        [sys.executable, "-m", "pip", "--version"], capture_output=True, check=False
    ).returncode
    pip = [sys.executable, "-m", "pip"] if has_pip else ["uv", "tool", "run", "--quiet", "pip"]
    command = [*pip, "download", "--quiet", "--no-deps", "--no-cache-dir", "--dest", str(folder), _LIBRARIES]
    subprocess.run(command, check=True, timeout=1800)
    return next(folder.glob("*.tar.gz"))


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir()
    with tarfile.open(archive) as packed:
        for member in packed:
            path = Path(member.name)
            content = packed.extractfile(member)
            if path.parts[1:3] == ("deps", "lib") and path.suffix == ".jar" and content:
                with (folder / path.name).open("wb") as jar:
                    shutil.copyfileobj(content, jar)


def _each(result: Any) -> Iterator[Any]:
    rows = result.collect()
    try:
        while rows.hasNext():
            yield rows.next()
    finally:
        # This ends the job; its cluster may be gone already.
        with contextlib.suppress(FlinkError):
            rows.close()


def _values(row: Any) -> Row:
    return tuple(_value(row.getField(index)) for index in range(row.getArity()))


def _value(value: Any) -> Any:
    # Dates and times as ISO 8601 text.
    return value if value is None or isinstance(value, (bool, int, float, str, Decimal, bytes)) else str(value)
