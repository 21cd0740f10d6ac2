"""Starts Spark's JVM; its output goes to a log file, and no secret appears there or in the process list."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id

from dbt.adapters.paimon.errors.redaction import blank, secrets_of
from dbt.adapters.paimon.machine import installation, java, private_files
from dbt.adapters.paimon.machine.waiting import Wait, watched
from dbt.adapters.paimon.spark.launch import cds_archive, packages

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

logger = AdapterLogger("Paimon")

# Seconds before asking a repository again that did not answer.
_RESOLVE_AGAIN_AFTER = (2, 8)
# Settings that the launcher needs before there is a JVM; all others are sent later, over py4j.
_FOR_THE_LAUNCHER: Final = (
    "spark.driver.",
    "spark.jars",
    "spark.master",
    "spark.submit.",
    "spark.repositories",
)
_JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
_SUBMIT_ARGUMENTS: Final = "PYSPARK_SUBMIT_ARGS"
# What PySpark uses if the variable is not set.
_NO_ARGUMENTS: Final = "pyspark-shell"
# Spark creates its Ivy without Ivy's defaults, including this one [ran, 3.5.7: a jar with a wrong checksum was used].
_CHECKSUMS: Final = "-Divy.checksums=sha1,md5"
_TEMPORARY_PROPERTY: Final = "java.io.tmpdir"
# Variables with Java options, in addition to the command line.
_JAVA_VARIABLES: Final = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
# The system property that log4j2.properties reads.
_SECRETS_PROPERTY: Final = "dbt.paimon.secrets"


# Held while a JVM starts; none is started once the process ends.
_starting: Final = Lock()
_ending: Final = Event()
# Seconds; a JVM that is asked to exit takes a fraction of one.
_LONGEST_END: Final = 10
# Seconds until a JVM answers, without and with jars to download first.
_LONGEST_START: Final = 600.0
_LONGEST_DOWNLOAD: Final = 1800.0


# Java's message for an option that it does not know.
_OPTION_REFUSED: Final = re.compile(
    r"^(?P<why>.+)\s+Error: Could not create the Java Virtual Machine", re.MULTILINE
)
# Per run of dbt: otherwise each thread would ask the repositories again, for the same answer.
_unresolved: Final[dict[tuple[str, packages.PackagePlan], str]] = {}


class _NotStartedError(DbtRuntimeError):
    """The JVM exited at once, because of its options and not for lack of jars."""


def launch(conf: Mapping[str, str], plan: packages.PackagePlan, secrets: Sequence[str]) -> None:
    """Start this process's JVM and connect PySpark to it.

    Args:
        conf: Spark settings.
        plan: the jars; they are resolved during the start.
        secrets: values that must not appear anywhere.

    Raises:
        DbtRuntimeError: the JVM does not start; with the reason.
    """
    from pyspark import SparkContext

    if conf["spark.master"].startswith("local"):
        # Spark looks for `python3` on the PATH, which may not be the Python that runs dbt.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        # Where Spark's UI listens if a profile enables it (WebUI.bind); by default on every interface.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    log = log_path()
    if why := _unresolved.get((get_invocation_id(), plan)):
        raise DbtRuntimeError(why)
    if plan.packages:
        logger.info(f"Resolving {', '.join(plan.packages)} (downloaded on first use, then kept by Ivy)")
    started = time.perf_counter()
    for_launcher = {key: value for key, value in conf.items() if key.startswith(_FOR_THE_LAUNCHER)}
    with packages.resolution_lock(plan), _starting, _hidden(for_launcher, secrets) as shown:
        if _ending.is_set():
            raise DbtRuntimeError("Spark is not started any more: this process ends.")
        shown[_JAVA_OPTIONS] = " ".join(
            part
            for part in (_temporary_option(), _CHECKSUMS, shown.get(_JAVA_OPTIONS, ""), _log_options(log))
            if part
        )
        gateway = _with_archive(shown, plan, log, secrets, _archive_options(conf))
    _keep_out_of_the_log(gateway, secrets)
    _guard_callbacks(gateway)
    SparkContext._ensure_initialized(gateway=gateway)
    logger.debug(f"Spark's JVM answered after {time.perf_counter() - started:.1f} s; its log is {log}")


def abandon() -> None:
    """At the end of the process: kill a JVM that is still starting, so that no temporary file of the start is left."""
    _ending.set()
    _Spawned.end_last()
    if _starting.acquire(timeout=_LONGEST_END):
        _starting.release()


def exit_status(seconds: float) -> int | None:
    """The exit status of the JVM that this process started last (`Popen.returncode`).

    Args:
        seconds: how long to wait for its exit.

    Returns:
        None if it is alive, or none was started here.
    """
    return _Spawned.status_of_last(seconds)


def end(why: str) -> None:
    """Kill this process's JVM at once; uncommitted writes are lost.

    Args:
        why: the reason, for the error of whoever finds it gone.
    """
    _Spawned.ended_because = why
    _Spawned.kill_last()


def ended_because() -> str:
    """Why this process killed its JVM; empty if it did not."""
    return _Spawned.ended_because


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


def _with_archive(
    conf: Mapping[str, str],
    plan: packages.PackagePlan,
    log: Path,
    secrets: Sequence[str],
    archive: Sequence[str],
) -> JavaGateway:
    """The gateway of a new JVM, with its CDS archive if it starts with that, else without."""
    if archive:
        options = " ".join((conf[_JAVA_OPTIONS], *map(shlex.quote, archive)))
        try:
            return _resolved({**conf, _JAVA_OPTIONS: options}, plan, log, secrets)
        except _NotStartedError as exc:
            if _ending.is_set():
                raise
            # With some options Java writes no archive and does not even start, for example --patch-module.
            logger.debug(f"Once more without {archive[0]}: {exc}")
    return _resolved(conf, plan, log, secrets)


def _resolved(
    conf: Mapping[str, str], plan: packages.PackagePlan, log: Path, secrets: Sequence[str]
) -> JavaGateway:
    """The gateway of a new JVM; a repository that does not answer is asked again."""
    from pyspark import SparkConf
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    launch_conf = SparkConf(loadDefaults=False).setAll(list(conf.items()))
    for wait in (*(_RESOLVE_AGAIN_AFTER if plan.packages else ()), None):
        output = _Output(log, secrets)
        try:
            with watched(_start_of(plan, log), _Spawned.kill_last), _spawned():
                return launch_gateway(launch_conf, popen_kwargs={"stdout": output.end, "stderr": output.end})
        except PySparkRuntimeError as exc:
            said = output.said()
            again = _is_unresolved(said) and packages.unreachable_repositories(said)
            if wait is None or _ending.is_set() or not again:
                failure = _failure(said, log)
                if _is_unresolved(said):
                    _unresolved[get_invocation_id(), plan] = failure.msg
                raise failure from exc
            logger.info(f"The jars could not be resolved: once more in {wait} s")
            time.sleep(wait)
        finally:
            output.close()
    raise AssertionError("the last attempt returns or raises")


def _start_of(plan: packages.PackagePlan, log: Path) -> Wait:
    if plan.packages:
        return Wait(
            f"Spark's JVM, which downloads its jars first ({', '.join(plan.packages)})",
            _LONGEST_DOWNLOAD,
            "A repository does not answer, or is slow: name another one under `repositories` in the profile, or local "
            f"files under `jars`. What the JVM printed is in {log}.",
        )
    return Wait(
        "Spark's JVM to start",
        _LONGEST_START,
        f"It was ended. What it printed is in {log}; free memory and cores of this machine, and run again.",
    )


class _Spawned(subprocess.Popen[bytes]):
    """A process that Ctrl-C does not reach, started without running Python code in the child.

    PySpark ignores the signal in a `preexec_fn`, for which Python forks. If another thread imports a module meanwhile,
    the child can hang for ever (see the warning at preexec_fn in Python's documentation of subprocess), and dbt imports
    modules during the start.
    """

    _last: _Spawned | None = None
    ended_because = ""

    def __init__(self, command: Sequence[str], *, preexec_fn: object = None, **more: Any) -> None:
        if preexec_fn is not None:
            command = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]
        super().__init__(command, **more)
        _Spawned._last = self
        if _ending.is_set():
            self.terminate()

    @classmethod
    def end_last(cls) -> None:
        if cls._last and _starting.locked():
            cls._last.terminate()

    @classmethod
    def kill_last(cls) -> None:
        """Kill the last one at once: it is starting and has written nothing yet."""
        if cls._last:
            cls._last.kill()

    @classmethod
    def status_of_last(cls, seconds: float) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return cls._last.wait(seconds) if cls._last else None
        return None


@contextmanager
def _spawned() -> Iterator[None]:
    """Make PySpark start its JVM as `_Spawned` inside the block; only one start runs at a time (`session.start`)."""
    from pyspark import java_gateway

    module: Any = java_gateway
    theirs = module.Popen
    module.Popen = _Spawned
    try:
        yield
    finally:
        module.Popen = theirs


class _Output:
    """Copies a JVM's output to the log without secrets: Ivy prints the user and password of repositories."""

    def __init__(self, log: Path, secrets: Sequence[str]) -> None:
        source, self.end = os.pipe()
        self._open = self._wanted = True
        self._lines: list[str] = []
        self._thread = Thread(
            target=self._copy, args=(source, log, tuple(secrets)), name="spark-log", daemon=True
        )
        self._thread.start()

    def _copy(self, source: int, log: Path, secrets: Sequence[str]) -> None:
        with os.fdopen(source, encoding="utf-8", errors="replace") as lines, log.open("a") as file:
            for line in lines:
                shown = blank(line, secrets)
                file.write(shown)
                file.flush()
                if self._wanted:
                    self._lines.append(shown)

    def said(self) -> str:
        """The whole output of a process that has ended."""
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


@contextmanager
def _hidden(conf: Mapping[str, str], secrets: Sequence[str]) -> Iterator[dict[str, str]]:
    """The settings that may be on a command line; the others are in private files while the JVM starts.

    Args:
        conf: settings for the launcher.
        secrets: known secrets; whatever looks like a secret is hidden too.
    """
    hidden = {
        key: value
        for key, value in conf.items()
        if secrets_of([(key, value)]) or any(secret in value for secret in secrets)
    }
    if not hidden:
        yield dict(conf)
        return
    shown = {key: value for key, value in conf.items() if key not in hidden}
    folder = Path(tempfile.mkdtemp(prefix="dbt-paimon-"))
    before = os.environ.get(_SUBMIT_ARGUMENTS)
    try:
        options = hidden.pop(_JAVA_OPTIONS, None)
        if options is not None:
            # Java reads options from such a file since version 9.
            shown[_JAVA_OPTIONS] = f"@{folder / 'java'}"
            _write(folder / "java", "\n".join(_java_argument(part) for part in shlex.split(options)))
        if hidden:
            # It replaces spark-defaults.conf.
            properties = "".join(f"{key}={_property(value)}\n" for key, value in hidden.items())
            _write(folder / "spark.conf", f"{_spark_defaults()}\n{properties}")
            rest = before or _NO_ARGUMENTS
            os.environ[_SUBMIT_ARGUMENTS] = (
                f"--properties-file {shlex.quote(str(folder / 'spark.conf'))} {rest}"
            )
        yield shown
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        # Never removed: dbt fails if a variable is removed while it iterates over them (see `early_start`).
        if hidden:
            os.environ[_SUBMIT_ARGUMENTS] = before or _NO_ARGUMENTS


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _java_argument(text: str) -> str:
    """An argument quoted for an argument file of `java` ("java Command-Line Argument Files" in its documentation)."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _property(text: str) -> str:
    """A value as java.util.Properties.load reads it from a properties file."""
    return re.sub(r"[^\x21-\x7e]", lambda found: _utf16(found[0]), text.replace("\\", "\\\\"))


def _utf16(text: str) -> str:
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _spark_defaults() -> str:
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home()) / "conf"
    path = Path(folder) / "spark-defaults.conf"
    return path.read_text() if path.is_file() else ""


def _keep_out_of_the_log(gateway: Any, secrets: Sequence[str]) -> None:
    """Make log4j mask these secrets; it masks whatever looks like one by itself (log4j2.properties)."""
    if not secrets:
        return
    pattern = "|".join(_utf16(secret) for secret in secrets)
    gateway.jvm.java.lang.System.setProperty(_SECRETS_PROPERTY, pattern)
    gateway.jvm.org.apache.logging.log4j.core.config.Configurator.reconfigure()


def _guard_callbacks(gateway: Any) -> None:
    """Make Python refuse callbacks from other processes: any user of the machine can connect to the callback port.

    PySpark listens there for foreachBatch and listeners without authentication (ensure_callback_server_started of 3.5
    and 4.1), although the JVM has a secret for it; py4j's Java side forgets that when it gets the port
    (PythonClient.copyWith of 0.10.9).
    """
    from py4j.java_gateway import JavaObject
    from pyspark.java_gateway import ensure_callback_server_started

    token = gateway.gateway_parameters.auth_token
    gateway.callback_server_parameters.auth_token = token
    ensure_callback_server_started(gateway)
    field = gateway.jvm.java.lang.Class.forName("py4j.CallbackClient").getDeclaredField("authToken")
    field.setAccessible(True)
    field.set(JavaObject("GATEWAY_SERVER", gateway._gateway_client).getCallbackClient(), token)


def _temporary_option() -> str:
    """The Java option for the folder of temporary, shuffle and spill files, unless spark.local.dir is set.

    Spark's own folders are readable by everybody (DiskBlockManager.createLocalDirs), and Paimon spills into them. The
    option comes before the user's own: Java takes the last one.
    """
    if any(_TEMPORARY_PROPERTY in os.environ.get(name, "") for name in _JAVA_VARIABLES):
        return ""
    return f'-D{_TEMPORARY_PROPERTY}="{private_files.temporary_folder()}"'


def _log_options(log: Path) -> str:
    properties = resources.files("dbt.adapters.paimon.spark.launch") / "log4j2.properties"
    level = os.environ.get("DBT_PAIMON_LOG_LEVEL", "WARN")
    return (
        f'-Dlog4j2.configurationFile="{properties}" -Ddbt.paimon.log="{log}" -Ddbt.paimon.log.level={level}'
    )


def _archive_options(conf: Mapping[str, str]) -> list[str]:
    """The options of `cds_archive`; none for a driver on a cluster's machine."""
    from pyspark import __version__
    from pyspark.find_spark_home import _find_spark_home

    if not conf["spark.master"].startswith("local"):
        return []
    first = conf.get("spark.driver.extraClassPath", "").split(os.pathsep)
    jars = [Path(jar) for jar in first if jar.endswith(".jar")]
    jars += sorted(Path(_find_spark_home(), "jars").glob("*.jar"))
    return cds_archive.java_options(java.find_java(os.environ, __version__), jars, conf)


def _is_unresolved(text: str) -> bool:
    return any(sign in text.lower() for sign in ("unresolved dependenc", "download failed"))


def _failure(text: str, log: Path) -> DbtRuntimeError:
    """The error for a JVM that exited with this output."""
    if _is_unresolved(text):
        return DbtRuntimeError(packages.explain_resolution_failure(text, installation.spark_version()))
    if refused := _OPTION_REFUSED.search(text):
        return _NotStartedError(
            f"Spark's JVM did not start: {refused['why'].strip()}. Correct spark.driver.memory or "
            f"spark.driver.extraJavaOptions under `spark_config` in the profile. Its whole output is in {log}."
        )
    reason = next((line for line in reversed(text.splitlines()) if "rror" in line or "xception" in line), "")
    return _NotStartedError(
        f"Spark's JVM did not start: {reason.strip() or 'it ended without a word'}. Its whole output is in {log}."
    )
