"""Flink of one JVM with Paimon's connector, and what a test does with it: SQL in, rows out.

The distribution's jars are PyPI's `apache-flink-libraries`, the connector is Maven Central's, Hadoop and py4j are PySpark's.
Each statement that reads or writes is a job on a mini cluster of its own, within that JVM.
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
# Seconds for what takes some, on a machine that does other things too.
TIMEOUT: Final = 180
_LINE: Final = VERSION.rpartition(".")[0]
_LIBRARIES: Final = f"apache-flink-libraries=={VERSION}"
# Of PySpark's folder: the file systems that Paimon's catalog asks for, and the door to Python.
_OF_SPARK: Final = ("hadoop-client-api-*", "hadoop-client-runtime-*", "commons-logging-*", "py4j-*")
# What Flink's own scripts give a Java 17 (`env.java.opts.all` of its config.yaml).
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
# A commit of a streaming job is a checkpoint.
_SETTINGS: Final = {
    "execution.target": "local",
    "execution.checkpointing.interval": "500 ms",
    "parallelism.default": "1",
    "table.local-time-zone": "UTC",
    "rest.bind-port": "0",
    # Threads of Paimon's outlive the job that began them; on S3 the next job's writes failed in them.
    "classloader.check-leaked-classloader": "false",
    # A mini cluster takes its buffers when it starts, and several may run at once.
    "taskmanager.memory.network.min": "32 mb",
    "taskmanager.memory.network.max": "32 mb",
    "taskmanager.memory.managed.size": "128 mb",
}

Row = tuple[Any, ...]


class FlinkError(RuntimeError):
    """What Flink says, with all that caused it."""


class _Client(GatewayClient):  # type: ignore[misc]
    """PySpark takes each error of any JVM for one of Spark's; here it is Flink's."""

    def send_command(self, command: str, retry: bool = True, binary: bool = False) -> Any:
        answer = super().send_command(command, retry, binary)
        text = answer[0] if binary else answer
        if not text.startswith(ERROR + REFERENCE_TYPE):
            return answer
        error, told = JavaObject(text[2:], self), []
        while error is not None:
            told.append(str(error.toString()))
            error = error.getCause()
        # A parser lists all words that it knows.
        raise FlinkError("\n".join(told).partition("Was expecting one of")[0])


class _Gateway(JavaGateway):  # type: ignore[misc]
    def _create_gateway_client(self) -> GatewayClient:
        return _Client(gateway_parameters=self.gateway_parameters)


@dataclass
class Job:
    """A job that goes on; `result` is Flink's TableResult."""

    gateway: JavaGateway
    result: Any

    @property
    def status(self) -> str:
        """`RUNNING`, `FINISHED`, `FAILED`, …; `CLOSED` once its mini cluster is gone."""
        try:
            return str(self._client().getJobStatus().get())
        except FlinkError as error:
            # The cluster of a job that has ended does not answer.
            if "already been shut down" in str(error):
                return "CLOSED"
            raise

    def wait(self) -> None:
        """Until it ends by itself.

        Raises:
            FlinkError: it failed, or was not done in time.
        """
        getattr(self.result, "await")(TIMEOUT, self.gateway.jvm.java.util.concurrent.TimeUnit.SECONDS)

    def cancel(self) -> None:
        """End it, if it has not ended; what no checkpoint has is not committed."""
        with contextlib.suppress(FlinkError):
            self._client().cancel().get()

    def _client(self) -> Any:
        return self.result.getJobClient().get()


@dataclass
class Reader:
    """A streaming query, and the rows that it has given so far."""

    job: Job
    _rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self.job.cancel()
        self._thread.join(TIMEOUT)

    def take(self, count: int) -> list[Row]:
        """The first rows, each with its kind (`+I`, `-U`, `+U`, `-D`) in front.

        Raises:
            AssertionError: they did not come in time.
        """
        end = time.monotonic() + TIMEOUT
        while len(self._rows) < count:
            assert time.monotonic() < end, f"{len(self._rows)} of {count} rows: {self._rows}"
            time.sleep(0.1)
        return self._rows[:count]

    def _read(self) -> None:
        # It ends with an error when the job is cancelled.
        with contextlib.suppress(FlinkError):
            for row in _each(self.job.result):
                self._rows.append((str(row.getKind().shortString()), *_values(row)))


@dataclass
class Session:
    """SQL on one warehouse; `{schema}` in a statement is a schema of it.

    Attributes:
        schema: the schema.
    """

    gateway: JavaGateway
    warehouse: Path
    schema: str
    _environments: dict[tuple[bool, str], Any] = field(default_factory=dict)

    def rows(self, sql: str, settings: Mapping[str, str] | None = None) -> list[Row]:
        """The rows of a batch query, in their order."""
        environment = self._environment(streaming=False, settings=settings)
        return [_values(row) for row in _each(environment.executeSql(self._text(sql)))]

    def run(self, sql: str, settings: Mapping[str, str] | None = None) -> None:
        """A statement, or an INSERT or CALL as a batch job, until it is done."""
        environment = self._environment(streaming=False, settings=settings)
        result = environment.executeSql(self._text(sql))
        getattr(result, "await")()
        # A procedure's job is done when its answer is read.
        for _ in _each(result):
            pass

    @contextlib.contextmanager
    def writing(self, sql: str, settings: Mapping[str, str] | None = None) -> Iterator[Job]:
        """An INSERT as a streaming job, which is ended with the block if it has not ended."""
        job = self._job(sql, settings)
        try:
            yield job
        finally:
            job.cancel()

    @contextlib.contextmanager
    def reading(self, sql: str) -> Iterator[Reader]:
        """A streaming query, which is ended with the block."""
        reader = Reader(self._job(sql))
        try:
            yield reader
        finally:
            reader.close()

    def go_on(self, sql: str) -> None:
        """A CALL whose job goes on until Flink's JVM ends: a procedure gives no handle of it."""
        self._environment(streaming=True, settings=None).executeSql(self._text(sql))

    def define(self, sql: str, settings: Mapping[str, str] | None = None) -> None:
        """A temporary table or view, for batch and for streaming statements with the same settings."""
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
            # Else the call of a procedure does not wait for its job.
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
    """Run a JVM with Flink until the block ends, and all jobs in it.

    Args:
        folder: for its log and what its jobs keep on disk.
        connector: the version of Paimon.

    Raises:
        RuntimeError: it did not start.
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
    """Those of the class path: Flink's, Paimon's for it and for S3, and Hadoop's."""
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
    # An environment that uv made has no pip.
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
        # It ends the job, whose cluster may be gone already.
        with contextlib.suppress(FlinkError):
            rows.close()


def _values(row: Any) -> Row:
    return tuple(_value(row.getField(index)) for index in range(row.getArity()))


def _value(value: Any) -> Any:
    # Dates and times as the text that they have in ISO 8601.
    return value if value is None or isinstance(value, (bool, int, float, str, Decimal, bytes)) else str(value)
