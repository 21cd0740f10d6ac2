"""Spark settings for a target's Paimon catalogs: the profile's own and those of `catalogs.yml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.storage import Storage
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.redaction import is_secret
from dbt.adapters.paimon.spark.cluster_managers import master_problems

CATALOG_CLASS = "org.apache.paimon.spark.SparkCatalog"
# Replaces `spark_catalog`, and delegates tables of other formats to Spark's own catalog.
GENERIC_CATALOG_CLASS = "org.apache.paimon.spark.SparkGenericCatalog"
# With a cache, this session would keep the metadata of a table that another session drops. If the table is created
# again, this session would read wrong rows, and from Paimon 1.4 an INSERT would corrupt the table.
_CACHE_ENABLED = "cache-enabled"
V2_WRITE = "spark.paimon.write.use-v2-write"
# Compatibility.getExecutionMetrics reads the query's metrics after the commit, but Spark may store them later in
# another thread, which causes a NoSuchElementException [ran, 1.4.2; the same code at 2.0.0].
V2_WRITE_FAILS = "statements may fail after they have committed their rows, and a MERGE cannot use rand() or a sample"


@dataclass(frozen=True)
class _Place:
    """Where a catalog is configured: the key of its options, and what its warehouse, metastore and uri are called."""

    file: str
    options: str
    keys: Mapping[str, str]


_PROFILE = _Place("the profile", "catalog_options", {key: key for key in ("warehouse", "metastore", "uri")})
_CATALOGS_YML_KEYS = {"warehouse": "external_volume", "metastore": "catalog_type"}


def catalog_conf(credentials: PaimonCredentials, storages: Sequence[Storage], versions: Versions) -> dict[str, str]:
    """The settings that register a target's catalogs with Spark; the first storage belongs to its own catalog.

    Raises:
        DbtRuntimeError: a setting contradicts the profile or would lose data, or this Paimon version lacks a feature.
    """
    own, *integrations = storages
    if credentials.is_remote and own.catalog.warehouse is None and own.catalog.uri is None:
        # The server was started with this catalog: override only some of its options.
        options = {_CACHE_ENABLED: "false", **own.catalog.options}
        conf = {f"spark.sql.catalog.{own.catalog.name}.{key}": value for key, value in options.items()}
    else:
        conf = _settings_of(own, versions)
    settings = credentials.spark_config
    problems = [
        *_contradictions(own.catalog.name, credentials.catalog_options, _PROFILE, settings, conf),
        *master_problems(credentials.spark_master, settings),
        *(problem for storage in storages for problem in _unsupported(storage, versions)),
    ]
    if settings.get(V2_WRITE, "false").strip().lower() == "true":
        problems.append(f"spark_config: {V2_WRITE}=true: with it, {V2_WRITE_FAILS}; remove it")
    for storage in integrations:
        added = _settings_of(storage, versions)
        catalog = storage.catalog
        listed_as = f"catalogs.yml, catalog {catalog.name}: adapter_properties"
        place = _Place("catalogs.yml", listed_as, _CATALOGS_YML_KEYS)
        problems += _contradictions(catalog.name, catalog.options, place, settings, added)
        conf |= added
    if problems:
        raise DbtRuntimeError(
            "Spark settings of the profile and catalogs.yml:\n" + "\n".join(f"  - {problem}" for problem in problems)
        )
    return conf


def _settings_of(storage: Storage, versions: Versions) -> dict[str, str]:
    """The settings of one catalog; its own options override the defaults."""
    catalog = storage.catalog
    prefix = f"spark.sql.catalog.{catalog.name}"
    conf = {prefix: GENERIC_CATALOG_CLASS if catalog.is_session_catalog else CATALOG_CLASS}
    if catalog.is_session_catalog:
        conf |= _session_catalog_conf(catalog)
    if storage.warehouse is not None:
        conf[f"{prefix}.warehouse"] = storage.warehouse
    if catalog.metastore != "filesystem":
        conf[f"{prefix}.metastore"] = catalog.metastore
    if catalog.uri is not None:
        conf[f"{prefix}.uri"] = catalog.uri
    conf[f"{prefix}.{_CACHE_ENABLED}"] = "false"
    options = dict(_DEFAULTS.get(catalog.jdbc_protocol or catalog.metastore, {}))
    if catalog.metastore == "hive" and not versions.supports(Capability.HIVE_CALLS_ONE_AT_A_TIME):
        # More clients than any target has threads, which would deadlock otherwise. Clients are created when needed.
        options["client-pool-size"] = "128"
    options |= {**storage.added, **catalog.options}
    return conf | {f"{prefix}.{key}": value for key, value in options.items()}


# Default options of a catalog, by metastore or, for a JDBC catalog, by database.
_DEFAULTS: Mapping[str, Mapping[str, str]] = {
    # A catalog's options are copied into its HiveConf (HiveCatalog.createHiveConf). By default Hive waits 10 minutes
    # for a response from its metastore, and just as long for a connection to one that is down.
    "hive": {
        "hive.metastore.connect.retries": "2",
        "hive.metastore.client.connect.retry.delay": "1s",
        "hive.metastore.failure.retries": "1",
        "hive.metastore.client.socket.timeout": "60s",
        # Allows columns like `Id`; SparkCatalog.initialize sets this too late.
        "allow-upper-case": "true",
    },
    # Milliseconds to wait while another writer locks the file.
    "sqlite": {"jdbc.busy_timeout": "30000"},
    # By default the drivers wait forever. pgjdbc takes seconds, the others milliseconds.
    "postgresql": {"jdbc.connectTimeout": "30", "jdbc.socketTimeout": "120"},
    "mysql": {"jdbc.connectTimeout": "30000", "jdbc.socketTimeout": "120000"},
    "mariadb": {"jdbc.connectTimeout": "30000", "jdbc.socketTimeout": "120000"},
}


def _session_catalog_conf(catalog: SparkCatalog) -> dict[str, str]:
    """Settings of Spark's own catalog on the same metastore; the JVM must be started with them."""
    conf = {"spark.sql.catalogImplementation": "hive", "spark.hadoop.hive.metastore.uris": catalog.uri or ""}
    if catalog.warehouse is not None:
        conf["spark.sql.warehouse.dir"] = catalog.warehouse
    defaults = {**_DEFAULTS["hive"], **catalog.options}
    return conf | {f"spark.hadoop.{key}": value for key, value in defaults.items() if key.startswith("hive.")}


def _contradictions(
    name: str, options: Mapping[str, str], place: _Place, settings: Mapping[str, str], conf: Mapping[str, str]
) -> Iterator[str]:
    """Problems with a catalog's options and `spark_config` that contradict its other keys or endanger tables."""
    prefix = f"spark.sql.catalog.{name}"
    cache = f"{prefix}.{_CACHE_ENABLED}"
    for key, written in place.keys.items():
        if key in options:
            remedy = (
                "is a key of the profile itself; write it there"
                if place is _PROFILE
                else f"does not belong here; set {written} instead"
            )
            yield f"{place.options}: {key} {remedy}"
    for key, value in settings.items():
        if (key == prefix or key.startswith(f"{prefix}.")) and key != cache:
            yield from _contradiction(key, value, key.removeprefix(prefix)[1:], options, place, conf)
    caches = {"spark_config": settings.get(cache, "false"), place.options: options.get(_CACHE_ENABLED, "false")}
    for where, enabled in caches.items():
        if enabled.lower() != "false":
            yield (
                f"{where}: {_CACHE_ENABLED}={enabled} corrupts a table that another session drops and creates again; "
                "remove it"
            )


def _contradiction(
    key: str, value: str, short: str, options: Mapping[str, str], place: _Place, conf: Mapping[str, str]
) -> Iterator[str]:
    """Problems with a setting of a catalog in `spark_config` that differs from the profile or catalogs.yml."""
    if not short and value != conf.get(key, CATALOG_CLASS):
        yield (
            f"spark_config: {key}={value} replaces Paimon's catalog ({conf.get(key, CATALOG_CLASS)}); "
            "give the other catalog another name"
        )
    elif short in _PROFILE.keys and value != conf.get(key, "filesystem"):
        named = place.keys.get(short, short)
        yield f"spark_config: {key} contradicts {named} of {place.file}; keep that of {place.file}"
    elif short in options and value != conf[key]:
        shown = "a different value" if is_secret(key) else value
        yield f"spark_config: {key} is {shown}, but {place.options} differs; keep one"


def _unsupported(storage: Storage, versions: Versions) -> Iterator[str]:
    """What this Paimon version or the profile lacks for a catalog."""
    catalog = storage.catalog
    needed = {}
    if catalog.metastore == "rest":
        needed[Capability.REST_CATALOG] = "metastore=rest"
    # AbstractCatalog.lockEnabled: by default only object stores need a lock. HDFS and local disks rename atomically.
    atomic = catalog.scheme in ("file", "hdfs", "viewfs")
    locks = catalog.options.get("lock.enabled", str(not atomic)).lower() == "true"
    if catalog.jdbc_protocol == "postgresql" and locks and "lock.type" not in catalog.options:
        needed[Capability.JDBC_LOCK_ON_POSTGRESQL] = f"writing to {catalog.warehouse} with metastore=jdbc"
    for capability, what in needed.items():
        if not versions.supports(capability):
            yield f"catalog {catalog.name}: {what}: {versions.explain(capability)}"
    if missing := storage.missing_keys(versions):
        yield f"{missing} (for {catalog.warehouse})"
