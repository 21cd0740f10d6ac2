"""A target's Spark settings: what Paimon needs, and defaults for a local Spark; the profile overrides both."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.catalogs.storage import Storage
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.redaction import SPARK_REDACTION
from dbt.adapters.paimon.machine import private_files
from dbt.adapters.paimon.machine.java import OPTION_VARIABLES
from dbt.adapters.paimon.profile_checks import TIMESTAMP_TYPE
from dbt.adapters.paimon.spark.catalog_conf import catalog_conf
from dbt.adapters.paimon.spark.cluster_managers import master_defaults
from dbt.adapters.paimon.spark.launch.connector_jars import is_connector
from dbt.adapters.paimon.spark.launch.hidden_settings import spark_defaults
from dbt.adapters.paimon.spark.launch.packages import EXCLUDES, PackagePlan

EXTENSIONS = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
_LOCAL_MASTER = re.compile(r"^local(?:\[(?P<cores>\*|\d+)(?:,\s*\d+)?\])?$")
_ZONE = "spark.sql.session.timeZone"
# The files with a container's memory limit in bytes, for cgroups v2 and v1.
_CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_PRUNING = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
_REGION = re.compile(r"[A-Za-z][A-Za-z0-9_/+-]*")
_OFFSET = re.compile(r"(?:UTC|UT|GMT)?([+-])(\d{1,2})(?::?(\d{1,2}))?")


def spark_conf(credentials: PaimonCredentials, storages: Sequence[Storage], plan: PackagePlan) -> dict[str, str]:
    """The settings that a target's Spark session starts with; the profile's `spark_config` overrides them.

    Raises:
        DbtRuntimeError: settings contradict the profile or would lose data; lists all of them.
    """
    conf = {
        "spark.master": credentials.spark_master,
        "spark.app.name": "dbt-paimon",
        # Only a default: the profile may set `hive`.
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.showConsoleProgress": "false",
        # Spark's default pattern does not match Paimon's `access-key`.
        "spark.redaction.regex": SPARK_REDACTION,
        **_local_defaults(credentials.spark_master),
        **master_defaults(credentials.spark_master),
        **_hadoop_settings(storages),
        **session_settings(credentials, storages, plan.paimon_version),
    }
    own = credentials.spark_config
    on_class_path = driver_class_path(credentials.spark_master, plan, own)
    if on_class_path:
        paths = [*on_class_path, own.get("spark.driver.extraClassPath", "")]
        conf["spark.driver.extraClassPath"] = os.pathsep.join(filter(None, paths))
    lists: dict[str, Sequence[str]] = {
        "spark.sql.extensions": [EXTENSIONS],
        "spark.jars": [jar for jar in plan.jars if jar not in on_class_path],
        "spark.jars.packages": plan.packages,
        **({"spark.jars.excludes": EXCLUDES} if plan.packages else {}),
        "spark.jars.repositories": plan.repositories,
    }
    for key, ours in lists.items():
        items = [*ours, *(item.strip() for item in own.get(key, "").split(","))]
        if joined := ",".join(dict.fromkeys(filter(None, items))):
            conf[key] = joined
    return {**conf, **_jvm_zone(conf)}


def _jvm_zone(conf: Mapping[str, str]) -> dict[str, str]:
    """Options that set the JVM's time zone to the session's, unless the user's own options set one."""
    # Paimon uses the JVM's time zone (see `sql.clocks`) to expire partitions and tags, to name automatic tags and to
    # show commits. These options come before `extraJavaOptions`, and Java uses the last one.
    zone = java_zone(conf[_ZONE])
    if not zone or any("user.timezone" in os.environ.get(name, "") for name in OPTION_VARIABLES):
        return {}
    local = _LOCAL_MASTER.match(conf["spark.master"])
    keys = [f"spark.{part}.defaultJavaOptions" for part in (("driver",) if local else ("driver", "executor"))]
    return {key: " ".join(filter(None, (f"-Duser.timezone={zone}", conf.get(key)))) for key in keys}


def require_extensions(extensions: str | None, server: str) -> None:
    """Refuse a server whose `spark.sql.extensions` do not include Paimon's."""
    if EXTENSIONS not in (extensions or ""):
        raise DbtRuntimeError(
            f"The {server} runs without Paimon's extensions: start it with "
            f"--conf spark.sql.extensions={EXTENSIONS} and Paimon's connector among its jars."
        )


def java_zone(zone: str) -> str:
    """A session's time zone as java.util.TimeZone names it (DateTimeUtils.getZoneId); '' for an offset with seconds."""
    if found := _OFFSET.fullmatch(zone):
        sign, hours, minutes = found.groups("0")
        return f"GMT{sign}{int(hours):02}:{int(minutes):02}"
    if zone == "Z":
        return "UTC"
    return zone if _REGION.fullmatch(zone) else ""


def _hadoop_settings(storages: Sequence[Storage]) -> dict[str, str]:
    """The Hadoop settings of the storages: HDFS before S3A, whatever the order in catalogs.yml."""
    ordered = sorted(storages, key=lambda storage: storage.catalog.scheme == "s3a")
    return {key: value for storage in ordered for key, value in storage.settings.items()}


def driver_class_path(master: str, plan: PackagePlan, own: Mapping[str, str]) -> list[str]:
    """The jars to put on a local Spark's class path, so that Spark need not copy and load them: all of them, or none.

    Only classes on the JVM's own class path can be in the CDS archive (see `cds_archive`). They cannot see classes
    that Spark loads later, for example a JDBC driver.
    """
    possible = (
        not plan.packages
        and _LOCAL_MASTER.match(master)
        and any(is_connector(jar) for jar in plan.jars)
        and all(Path(jar).is_absolute() and os.pathsep not in jar for jar in plan.jars)
        and not _names_jars(own)
    )
    return list(plan.jars) if possible else []


def _names_jars(own: Mapping[str, str]) -> bool:
    if own.keys() & {"spark.jars", "spark.jars.packages"}:
        return True
    settings = os.environ.get("PYSPARK_SUBMIT_ARGS", "") + spark_defaults()
    return any(name in settings for name in ("spark.jars", "--jars", "--packages"))


def session_settings(
    credentials: PaimonCredentials, storages: Sequence[Storage], paimon_version: str
) -> dict[str, str]:
    """The settings that an embedded Spark and a server's session have in common."""
    versions = Versions.of(paimon_version)
    return {
        # The timestamps of a model must not depend on the machine that runs it.
        _ZONE: "UTC",
        # Otherwise `timestamp` would have no time zone in the tables that this adapter creates.
        TIMESTAMP_TYPE: "TIMESTAMP_LTZ",
        # Spark's variable substitution removes every `${word}` from a statement, even in a regular expression or a
        # comment, and `${env:WORD}` could write the machine's environment into tables.
        "spark.sql.variable.substitute": "false",
        # Paimon's writer gets rows as Java objects (SparkRow). Java's old date classes use a different calendar before
        # October 1582, and would shift such dates and timestamps by days [ran, 0.9.0].
        "spark.sql.datetime.java8API.enabled": "true",
        # Otherwise a join of a partitioned table with an empty table may fail.
        **({} if versions.supports(Capability.JOINS_WITH_NOTHING) else {_PRUNING: "false"}),
        **catalog_conf(credentials, storages, versions),
        "spark.sql.defaultCatalog": credentials.catalog,
        **credentials.spark_config,
    }


def _local_defaults(master: str) -> dict[str, str]:
    local = _LOCAL_MASTER.match(master)
    if local is None:
        return {}
    wanted = local.group("cores") or "1"
    cores = (os.cpu_count() or 1) if wanted == "*" else int(wanted)
    return {
        "spark.ui.enabled": "false",
        # Otherwise anybody who can open the UI could kill jobs.
        "spark.ui.killEnabled": "false",
        # Spark's default of 200 tasks per shuffle is too many for the data on a laptop.
        "spark.sql.shuffle.partitions": str(max(cores, 1)),
        "spark.driver.memory": f"{driver_memory_mib(cores, _memory_mib())}m",
        # A laptop's host name often does not resolve, or resolves to an interface that a VPN removed.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Spark creates this folder even if it stays empty: keep it out of the user's project.
        "spark.sql.warehouse.dir": str(private_files.temporary_folder() / "spark-warehouse"),
        # All users of the machine can connect to the driver's ports, and RPC deserializes Java objects. Spark generates
        # the secret itself and keeps it in memory (SecurityManager.initializeAuth: local masters).
        "spark.authenticate": "true",
    }


def driver_memory_mib(cores: int, memory_mib: int | None) -> int:
    """Heap in MiB for a local Spark: 512 per core, at least 2048, at most half of the available memory.

    Each writing task may hold Paimon's write buffer (256 MiB) and a sort buffer.
    """
    wanted = max(2048, 512 * cores)
    return wanted if memory_mib is None else max(512, min(wanted, memory_mib // 2))


def _memory_mib() -> int | None:
    """The memory of the machine, or of the container if that is less."""
    found = []
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit in _CONTAINER_LIMITS:
        # `max` means that there is no limit.
        with suppress(ValueError, OSError):
            found.append(int(limit.read_text()))
    return min(found) // 1024**2 if found else None
