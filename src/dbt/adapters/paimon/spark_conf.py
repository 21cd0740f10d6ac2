"""A target's Spark settings: what Paimon needs, sane defaults for a local Spark, and the user's own on top."""

from __future__ import annotations

import getpass
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import storage
from dbt.adapters.paimon.capabilities import Capability, Environment
from dbt.adapters.paimon.credentials import PaimonCredentials, SparkCatalog
from dbt.adapters.paimon.masters import master_defaults, master_problems
from dbt.adapters.paimon.packages import EXCLUDES, PackagePlan, effective_paimon_version
from dbt.adapters.paimon.redaction import SPARK_REDACTION, is_secret

CATALOG_CLASS = "org.apache.paimon.spark.SparkCatalog"
# Takes the place of Spark's own catalog, and leaves to it what is not Paimon's.
GENERIC_CATALOG_CLASS = "org.apache.paimon.spark.SparkGenericCatalog"
EXTENSIONS = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
_LOCAL_MASTER = re.compile(r"^local(?:\[(?P<cores>\*|\d+)(?:,\s*\d+)?\])?$")
_MIB = 1024 * 1024


def spark_conf(credentials: PaimonCredentials, plan: PackagePlan) -> dict[str, str]:
    """Build the settings that a target's Spark session starts with.

    Args:
        credentials: the target; its `spark_config` wins over the defaults here.
        plan: the jars, from `packages.plan_packages`.

    Raises:
        DbtRuntimeError: settings of `spark_config` or `catalog_options` that contradict the profile or would lose data,
            all of them in one message.
    """
    conf = {
        "spark.master": credentials.spark_master,
        "spark.app.name": "dbt-paimon",
        # A session catalog of this process; Hive's is there for who asks (catalogImplementation: hive).
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.showConsoleProgress": "false",
        # Spark's own default does not know Paimon's `access-key`.
        "spark.redaction.regex": SPARK_REDACTION,
        **_local_defaults(credentials.spark_master),
        **master_defaults(credentials.spark_master),
        **storage.hadoop_settings(credentials.spark_catalogs),
        **remote_conf(credentials, plan.paimon_version),
    }
    own = credentials.spark_config
    conf["spark.sql.extensions"] = _joined([EXTENSIONS], own.get("spark.sql.extensions"))
    _set_joined(conf, "spark.jars", plan.jars, own)
    _set_joined(conf, "spark.jars.packages", plan.packages, own)
    if plan.packages:
        _set_joined(conf, "spark.jars.excludes", EXCLUDES, own)
    _set_joined(conf, "spark.jars.repositories", plan.repositories, own)
    return conf


def remote_conf(credentials: PaimonCredentials, paimon_version: str = "") -> dict[str, str]:
    """Those of a target's settings that a Spark server takes, too: of its sessions and catalogs.

    Args:
        credentials: the target.
        paimon_version: the Paimon that is meant, if not the target's own.

    Raises:
        DbtRuntimeError: as `spark_conf` does.
    """
    around = credentials.surroundings
    environment = Environment.of(paimon_version or effective_paimon_version(credentials))
    catalog: dict[str, str] = {}
    if not credentials.is_remote or credentials.warehouse or credentials.uri:
        catalog = _catalog_conf(credentials.spark_catalog, around, environment)
    _check(credentials, catalog, environment)
    for integration in credentials.integrations.values():
        catalog |= _catalog_conf(integration, around, environment)
    return {
        # dbt-sized work is many small statements: their timestamps must not depend on whose machine runs them.
        "spark.sql.session.timeZone": "UTC",
        # Templates are Jinja's. Spark's own blanks every `${word}` of a statement, in a regular expression or a comment
        # too, and `${env:WORD}` would write the machine's environment into tables.
        "spark.sql.variable.substitute": "false",
        # Paimon's writer takes rows as Java's objects (SparkRow): the old classes count days before October 1582 by
        # another calendar, and such dates and timestamps would be read back days off [ran, 0.9.0].
        "spark.sql.datetime.java8API.enabled": "true",
        **catalog,
        "spark.sql.defaultCatalog": credentials.catalog,
        **credentials.spark_config,
    }


def _catalog_conf(
    catalog: SparkCatalog, around: storage.Surroundings, environment: Environment
) -> dict[str, str]:
    """The settings that make a Paimon catalog known to Spark; the catalog's own options win over the defaults here."""
    store = storage.store_of(catalog, around)
    prefix = f"spark.sql.catalog.{catalog.name}"
    conf = {prefix: GENERIC_CATALOG_CLASS if catalog.is_sessions else CATALOG_CLASS}
    if catalog.is_sessions:
        conf |= _session_catalog_conf(catalog)
    warehouse = storage.warehouse_of(catalog, store)
    if warehouse is not None:
        conf[f"{prefix}.warehouse"] = warehouse
    if catalog.metastore != "filesystem":
        conf[f"{prefix}.metastore"] = catalog.metastore
    if catalog.uri is not None:
        conf[f"{prefix}.uri"] = catalog.uri
    # A cached table outlives its drop by another session: this one would then read wrong rows of the table that
    # took its name, and from Paimon 1.4 an INSERT here would corrupt it.
    conf[f"{prefix}.cache-enabled"] = "false"
    options = dict(_DEFAULTS.get(catalog.jdbc_protocol or catalog.metastore, {}))
    if catalog.metastore == "hive" and not environment.supports(Capability.HIVE_CALLS_ONE_AT_A_TIME):
        # More than anyone has threads; each is made when it is needed.
        options["client-pool-size"] = "128"
    options |= {**storage.catalog_options(catalog, store, around), **catalog.options}
    conf.update({f"{prefix}.{key}": value for key, value in options.items()})
    return conf


# Options of a catalog by its metastore or, of a JDBC catalog, its database.
_DEFAULTS: Mapping[str, Mapping[str, str]] = {
    # HiveConf takes a catalog's options (HiveCatalog.createHiveConf). Hive waits 10 minutes for an answer of its
    # metastore, and for a connection to one that is gone.
    "hive": {
        "hive.metastore.connect.retries": "2",
        "hive.metastore.client.connect.retry.delay": "1s",
        "hive.metastore.failure.retries": "1",
        "hive.metastore.client.socket.timeout": "60s",
        # Columns like `Id`: SparkCatalog.initialize means to allow them, and is too late with it.
        "allow-upper-case": "true",
    },
    # Milliseconds; one writer at a time has the whole file.
    "sqlite": {"jdbc.busy_timeout": "30000"},
}


def _session_catalog_conf(catalog: SparkCatalog) -> dict[str, str]:
    """Spark's own catalog on the same metastore, which its JVM has to be started with."""
    conf = {"spark.sql.catalogImplementation": "hive", "spark.hadoop.hive.metastore.uris": catalog.uri or ""}
    if catalog.warehouse is not None:
        conf["spark.sql.warehouse.dir"] = catalog.warehouse
    defaults = {**_DEFAULTS["hive"], **catalog.options}
    conf.update({f"spark.hadoop.{key}": value for key, value in defaults.items() if key.startswith("hive.")})
    return conf


def _check(credentials: PaimonCredentials, catalog: dict[str, str], environment: Environment) -> None:
    prefix = f"spark.sql.catalog.{credentials.catalog}"
    problems = [
        f"catalog_options: {key} is a key of the profile itself; write it there"
        for key in ("warehouse", "metastore", "uri")
        if key in credentials.catalog_options
    ]
    for one in credentials.spark_catalogs:
        problems += _not_to_be_had(one, environment)
    for key, value in credentials.spark_config.items():
        short = key.removeprefix(f"{prefix}.")
        if key == f"{prefix}.cache-enabled":
            continue
        if key == prefix and value != catalog[prefix]:
            problems.append(
                f"spark_config: {key}={value} takes the place of Paimon's catalog ({catalog[prefix]}); "
                "give the other catalog another name"
            )
        elif short in ("warehouse", "metastore", "uri") and value != catalog.get(key, "filesystem"):
            problems.append(
                f"spark_config: {key} says otherwise than {short} of the profile; keep the profile's"
            )
        elif short in credentials.catalog_options and value != catalog[key]:
            shown = "another value" if is_secret(key) else value
            problems.append(f"spark_config: {key} is {shown}, and catalog_options says otherwise; keep one")
    for place, cached in (
        ("spark_config", credentials.spark_config.get(f"{prefix}.cache-enabled", "false")),
        ("catalog_options", credentials.catalog_options.get("cache-enabled", "false")),
    ):
        if cached.lower() != "false":
            problems.append(
                f"{place}: cache-enabled={cached} corrupts a table that another session drops and creates again; "
                "leave it out"
            )
    problems += master_problems(credentials.spark_master, credentials.spark_config)
    for each in credentials.spark_catalogs:
        store = storage.store_of(each, credentials.surroundings)
        if store is not None and (
            missing := storage.missing_keys(
                store, storage.all_options(each, credentials.surroundings), str(environment.paimon)
            )
        ):
            problems.append(f"{missing} (for {each.warehouse})")
    if problems:
        raise DbtRuntimeError(
            "The profile's Spark settings:\n" + "\n".join(f"  - {problem}" for problem in problems)
        )


def _not_to_be_had(catalog: SparkCatalog, environment: Environment) -> list[str]:
    """What this version of Paimon lacks for a catalog."""
    needed = []
    if catalog.metastore == "rest":
        needed.append((Capability.REST_CATALOG, "metastore=rest"))
    # AbstractCatalog.lockEnabled: asked for, or an object store. HDFS and local disks rename in one step.
    atomic = catalog.scheme in ("file", "hdfs", "viewfs")
    locks = catalog.options.get("lock.enabled", str(not atomic)).lower() == "true"
    if catalog.jdbc_protocol == "postgresql" and locks and "lock.type" not in catalog.options:
        needed.append(
            (Capability.JDBC_LOCK_ON_POSTGRESQL, f"writing to {catalog.warehouse} with metastore=jdbc")
        )
    return [
        f"catalog {catalog.name}: {what}: {environment.explain(capability)}"
        for capability, what in needed
        if not environment.supports(capability)
    ]


def _local_defaults(master: str) -> dict[str, str]:
    local = _LOCAL_MASTER.match(master)
    if local is None:
        return {}
    wanted = local.group("cores") or "1"
    cores = _available_cores() if wanted == "*" else int(wanted)
    return {
        "spark.ui.enabled": "false",
        # 200 tasks a shuffle, Spark's default, cost more than the data of a laptop is worth.
        "spark.sql.shuffle.partitions": str(max(cores, 1)),
        "spark.driver.memory": f"{driver_memory_mib(cores, _physical_mib())}m",
        # A laptop's host name often resolves to nowhere, or to an interface that a VPN has taken away.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Spark makes this folder even when nothing is stored in it: not in the user's project.
        "spark.sql.warehouse.dir": str(
            Path(tempfile.gettempdir()) / f"dbt-paimon-{_user()}" / "spark-warehouse"
        ),
    }


def driver_memory_mib(cores: int, physical_mib: int | None) -> int:
    """Heap for a local Spark: every writing task may hold Paimon's write buffer (256 MiB) and as much to sort.

    Returns:
        512 MiB a core, at least 2 GiB, and never more than half of the machine's memory (where that is known).
    """
    wanted = max(2048, 512 * cores)
    return wanted if physical_mib is None else max(512, min(wanted, physical_mib // 2))


def _available_cores() -> int:
    return os.cpu_count() or 1


def _physical_mib() -> int | None:
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MIB
    return None


def _user() -> str:
    with suppress(Exception):
        return re.sub(r"\W", "_", getpass.getuser())
    return "user"


def _set_joined(conf: dict[str, str], key: str, ours: Iterable[str], own: dict[str, str]) -> None:
    joined = _joined(ours, own.get(key))
    if joined:
        conf[key] = joined


def _joined(ours: Iterable[str], theirs: str | None) -> str:
    items = [*ours, *((item.strip() for item in theirs.split(",")) if theirs else ())]
    return ",".join(dict.fromkeys(item for item in items if item))
