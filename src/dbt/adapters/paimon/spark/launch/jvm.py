"""Starts Spark's JVM: its Java options, the download of its jars, and the gateway that PySpark talks to."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id

from dbt.adapters.paimon.capabilities.artifacts import JAVA_WITH_IDLE_COLLECTIONS
from dbt.adapters.paimon.machine import private_files
from dbt.adapters.paimon.machine.java import OPTION_VARIABLES, JavaRuntime
from dbt.adapters.paimon.machine.waiting import Wait, watched
from dbt.adapters.paimon.spark.launch import cds_archive
from dbt.adapters.paimon.spark.launch.hidden_settings import JAVA_OPTIONS, hidden
from dbt.adapters.paimon.spark.launch.ivy_lock import resolution_lock
from dbt.adapters.paimon.spark.launch.jvm_process import ending, kill, spawned, starting
from dbt.adapters.paimon.spark.launch.spark_log import Output, keep_out_of_the_log, log_options, log_path
from dbt.adapters.paimon.spark.launch.start_failures import (
    NotStartedError,
    failed_downloads,
    failure_of,
    is_unresolved,
    unreachable_repositories,
)

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

logger = AdapterLogger("Paimon")

# Seconds before a retry, if a repository does not answer or sends a damaged file.
_RESOLVE_AGAIN_AFTER = (2, 8)
# Settings that the launcher needs before there is a JVM; all others are sent later, over py4j.
_FOR_THE_LAUNCHER: Final = ("spark.driver.", "spark.jars", "spark.master", "spark.submit.", "spark.repositories")
# Spark creates its Ivy without Ivy's defaults, including this one [ran, 3.5.7: a jar with a wrong checksum was used].
_CHECKSUMS: Final = "-Divy.checksums=sha1,md5"
_TEMPORARY_PROPERTY: Final = "java.io.tmpdir"
# The milliseconds after which an idle JVM collects garbage, which releases memory.
_IDLE: Final = "-XX:G1PeriodicGCInterval=60000"
# Seconds within which a JVM must answer, without and with jars to download first.
_LONGEST_START: Final = 600.0
_LONGEST_DOWNLOAD: Final = 1800.0
# Errors by run of dbt and packages: otherwise each thread would ask the repositories again.
_unresolved: Final[dict[tuple[str, tuple[str, ...]], str]] = {}


def launch(conf: Mapping[str, str], secrets: Sequence[str], runtime: JavaRuntime) -> None:
    """Start this process's JVM and connect PySpark to it; Ivy downloads the packages of `spark.jars.packages`.

    `secrets` must not appear on a command line or in a log; `runtime` is the Java to use.
    """
    from pyspark import SparkContext

    local = conf["spark.master"].startswith("local")
    if local:
        # Spark looks for `python3` on the PATH, which may not be the Python that runs dbt.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        # Where Spark's UI listens if a profile enables it (WebUI.bind); by default on every interface.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    log = log_path()
    downloads = tuple(filter(None, conf.get("spark.jars.packages", "").split(",")))
    if why := _unresolved.get((get_invocation_id(), downloads)):
        raise DbtRuntimeError(why)
    if downloads:
        logger.info(f"Resolving {', '.join(downloads)} (downloaded on first use, then kept by Ivy)")
    started = time.perf_counter()
    for_launcher = {key: value for key, value in conf.items() if key.startswith(_FOR_THE_LAUNCHER)}
    with resolution_lock(downloads), starting, hidden(for_launcher, secrets) as shown:
        if ending.is_set():
            raise DbtRuntimeError("Spark is not started: this process is shutting down.")
        # Java uses the last value of an option, so the user's own options come after the defaults.
        idle = _IDLE if local and runtime.major >= JAVA_WITH_IDLE_COLLECTIONS else ""
        archive = _archive_options(conf, runtime) if local else []
        options = (_temporary_option(), _CHECKSUMS, idle, shown.get(JAVA_OPTIONS, ""), log_options(log))
        shown[JAVA_OPTIONS] = " ".join(filter(None, options))
        gateway = _with_archive(shown, downloads, log, secrets, archive)
    keep_out_of_the_log(gateway, secrets)
    _guard_callbacks(gateway)
    SparkContext._ensure_initialized(gateway=gateway)
    logger.debug(f"Spark's JVM answered after {time.perf_counter() - started:.1f} s; its log is {log}")


def _with_archive(
    conf: Mapping[str, str], downloads: tuple[str, ...], log: Path, secrets: Sequence[str], archive: Sequence[str]
) -> JavaGateway:
    """The gateway of a new JVM; if the JVM does not start with its CDS archive, it is started without."""
    if archive:
        options = " ".join((conf[JAVA_OPTIONS], *map(shlex.quote, archive)))
        try:
            return _resolved({**conf, JAVA_OPTIONS: options}, downloads, log, secrets)
        except NotStartedError as exc:
            if ending.is_set():
                raise
            # With some options, such as --patch-module, Java cannot write an archive and does not even start.
            logger.debug(f"Retrying without {archive[0]}: {exc}")
    return _resolved(conf, downloads, log, secrets)


def _resolved(conf: Mapping[str, str], downloads: tuple[str, ...], log: Path, secrets: Sequence[str]) -> JavaGateway:
    """The gateway of a new JVM; retries if a repository does not answer or sends a damaged file."""
    from pyspark import SparkConf
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    launch_conf = SparkConf(loadDefaults=False).setAll(list(conf.items()))
    for wait in (*(_RESOLVE_AGAIN_AFTER if downloads else ()), None):
        output = Output(log, secrets)
        try:
            with watched(_wait_for_start(downloads, log), kill), spawned():
                return launch_gateway(launch_conf, popen_kwargs={"stdout": output.end, "stderr": output.end})
        except PySparkRuntimeError as exc:
            text = output.text()
            again = is_unresolved(text) and (unreachable_repositories(text) or failed_downloads(text))
            if wait is None or ending.is_set() or not again:
                failure = failure_of(text, log)
                if is_unresolved(text):
                    _unresolved[get_invocation_id(), downloads] = failure.msg
                raise failure from exc
            logger.info(f"The jars could not be resolved: retrying in {wait} s")
            time.sleep(wait)
        finally:
            output.close()
    raise AssertionError("the last attempt returns or raises")


def _wait_for_start(downloads: tuple[str, ...], log: Path) -> Wait:
    if downloads:
        return Wait(
            f"Spark's JVM, which downloads its jars first ({', '.join(downloads)})",
            _LONGEST_DOWNLOAD,
            "A repository does not answer, or is slow: name another one under `repositories` in the profile, "
            f"or local files under `jars`. The JVM's output is in {log}.",
        )
    return Wait(
        "Spark's JVM to start",
        _LONGEST_START,
        f"It was stopped. Its output is in {log}; free memory and CPU on this machine, and run again.",
    )


def _guard_callbacks(gateway: Any) -> None:
    """Make Python refuse callbacks from other processes: any user of the machine can connect to the callback port."""
    # PySpark's callback server, for foreachBatch and listeners, requires no secret (ensure_callback_server_started of
    # 3.5 and 4.1), although the JVM has one. py4j's Java side loses the secret when it gets the port
    # (PythonClient.copyWith of 0.10.9).
    from py4j.java_gateway import JavaObject
    from pyspark.java_gateway import ensure_callback_server_started

    token = gateway.gateway_parameters.auth_token
    gateway.callback_server_parameters.auth_token = token
    ensure_callback_server_started(gateway)
    field = gateway.jvm.java.lang.Class.forName("py4j.CallbackClient").getDeclaredField("authToken")
    field.setAccessible(True)
    field.set(JavaObject("GATEWAY_SERVER", gateway._gateway_client).getCallbackClient(), token)


def _temporary_option() -> str:
    """The Java option for the folder of temporary files; without spark.local.dir, also of shuffle and spill files."""
    # Everybody can read Spark's own folders (DiskBlockManager.createLocalDirs), and Paimon spills into them. The option
    # comes before the user's own: Java uses the last one.
    if any(_TEMPORARY_PROPERTY in os.environ.get(name, "") for name in OPTION_VARIABLES):
        return ""
    return f'-D{_TEMPORARY_PROPERTY}="{private_files.temporary_folder()}"'


def _archive_options(conf: Mapping[str, str], runtime: JavaRuntime) -> list[str]:
    from pyspark.find_spark_home import _find_spark_home

    first = conf.get("spark.driver.extraClassPath", "").split(os.pathsep)
    jars = [Path(jar) for jar in first if jar.endswith(".jar")]
    jars += sorted(Path(_find_spark_home(), "jars").glob("*.jar"))
    return cds_archive.java_options(runtime, jars, conf)
