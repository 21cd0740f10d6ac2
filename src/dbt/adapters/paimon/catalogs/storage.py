"""Storage of warehouses that are not on a local disk: options, bounded retries, and who may write at once.

Paimon reaches `s3://` and `oss://` through its own plug-ins (S3FileIO, OSSFileIO), which read only the catalog's
options: neither Spark's `spark.hadoop.fs.s3a.*` nor core-site.xml and, before 2.0, not the environment either
(FileIO.get ignores S3Loader when `s3.access-key` is missing). So this module turns all of these into catalog options.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from xml.etree import ElementTree

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.errors.redaction import redact_text

if TYPE_CHECKING:
    from dbt.adapters.paimon.catalogs.catalog import SparkCatalog

# Seconds within which the storage must take a connection.
_ANSWERS_WITHIN: Final = 5.0
_HADOOP_AWS: Final = "hadoop-aws"


@dataclass(frozen=True)
class ObjectStore:
    """A kind of storage that Paimon has a plug-in for.

    Attributes:
        artifact: Maven artifact of the plug-in, in Paimon's version; `loader` is its class.
        prefix: prefix under which the plug-in reads options first; `prefixes` are all that it reads.
        hadoop: prefix of the same options in Hadoop's settings.
        keys: options without which Paimon does not use the plug-in (the loader's `requiredOptions`).
        synonyms: other spellings of an option, without the prefix.
        environment: variable -> the option that it sets if the profile has no keys.
        bounds: options that stop a store that does not answer from blocking a run for hours; the profile's values win.
    """

    name: str
    artifact: str
    loader: str
    prefix: str
    prefixes: tuple[str, ...]
    hadoop: str
    keys: tuple[str, ...]
    environment: Mapping[str, str]
    bounds: Mapping[str, str]
    synonyms: Mapping[str, str] = field(default_factory=dict)

    def option(self, name: str) -> str | None:
        """The name of an option without this storage's prefix; None if the option is not one of this storage."""
        for prefix in self.prefixes:
            if name.startswith(prefix):
                short = name.removeprefix(prefix)
                return self.synonyms.get(short, short)
        return None


S3: Final = ObjectStore(
    name="S3",
    artifact="paimon-s3",
    loader="org/apache/paimon/s3/S3Loader.class",
    # Source: S3FileIO.CONFIG_PREFIXES and MIRRORED_CONFIG_KEYS, S3Loader.requiredOptions.
    prefix="s3.",
    prefixes=("s3.", "s3a.", "fs.s3a."),
    hadoop="fs.s3a.",
    keys=("access-key", "secret-key"),
    synonyms=MappingProxyType(
        {
            "access.key": "access-key",
            "secret.key": "secret-key",
            "path-style-access": "path.style.access",
            "signer-type": "signing-algorithm",
        }
    ),
    environment=MappingProxyType(
        {
            "AWS_ACCESS_KEY_ID": "access-key",
            "AWS_SECRET_ACCESS_KEY": "secret-key",
            "AWS_SESSION_TOKEN": "session.token",
            "AWS_ENDPOINT_URL": "endpoint",
            "AWS_ENDPOINT_URL_S3": "endpoint",
        }
    ),
    # Hadoop's defaults (org.apache.hadoop.fs.s3a.Constants, 3.3.4): 7 attempts of S3A, each with 20 attempts of the SDK
    # with a time-out of 200 s. Throttled requests (503) are still repeated 20 times.
    bounds=MappingProxyType(
        {
            "attempts.maximum": "3",
            "retry.limit": "3",
            "retry.interval": "500ms",
            "connection.establish.timeout": "3000",
            "connection.timeout": "30000",
        }
    ),
)

OSS: Final = ObjectStore(
    name="OSS",
    artifact="paimon-oss",
    loader="org/apache/paimon/oss/OSSLoader.class",
    # Source: OSSFileIO.CONFIG_PREFIXES, OSSLoader.requiredOptions.
    prefix="fs.oss.",
    prefixes=("fs.oss.",),
    hadoop="fs.oss.",
    keys=("endpoint", "accessKeyId", "accessKeySecret"),
    environment=MappingProxyType(
        {
            "OSS_ACCESS_KEY_ID": "accessKeyId",
            "OSS_ACCESS_KEY_SECRET": "accessKeySecret",
            "OSS_SESSION_TOKEN": "securityToken",
            "OSS_ENDPOINT": "endpoint",
        }
    ),
    # org.apache.hadoop.fs.aliyun.oss.Constants: 10 attempts, 50 s to connect, 200 s to answer.
    bounds=MappingProxyType(
        {
            "attempts.maximum": "3",
            "connection.establish.timeout": "3000",
            "connection.timeout": "30000",
        }
    ),
)

STORES: Final[Mapping[str, ObjectStore]] = MappingProxyType({"s3": S3, "s3a": S3, "s3n": S3, "oss": OSS})
# The schemes that the plug-ins are registered for (S3Loader.getScheme): s3a:// would go to Hadoop's S3A.
_OWN_SCHEME: Final[Mapping[str, str]] = MappingProxyType({"s3a": "s3", "s3n": "s3"})
# Stores whose rename is a copy and a delete; Paimon's commit is a rename (see RenamingSnapshotCommit).
_NOT_ATOMIC: Final = frozenset({*STORES, "abfs", "abfss", "wasb", "wasbs", "cos", "cosn", "gs", "obs", "tos"})
# Catalogs with their own lock: HiveCatalog and JdbcCatalog.defaultLockFactory. FileSystemCatalog has none, and it
# cannot use those of the others (each casts the lock's context to its own class).
_LOCKING: Final = frozenset({"hive", "jdbc"})

# For a name node that does not answer. Hadoop's defaults (CommonConfigurationKeysPublic, 3.3.4): 45 attempts to
# connect, each given up after 20 s; 10 attempts if the connection is refused.
HDFS_BOUNDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spark.hadoop.ipc.client.connect.timeout": "5000",
        "spark.hadoop.ipc.client.connect.max.retries.on.timeouts": "2",
        "spark.hadoop.ipc.client.connect.max.retries": "5",
        "spark.hadoop.ipc.client.connect.retry.interval": "1000",
    }
)


@dataclass(frozen=True)
class Surroundings:
    """Settings from the profile and the machine that apply in addition to a catalog's options.

    Attributes:
        spark_config: the profile's Spark settings.
        jars: jars and Maven coordinates in the profile.
        environ: environment variables.
    """

    spark_config: Mapping[str, str]
    jars: tuple[str, ...]
    environ: Mapping[str, str]

    def of_catalog(self, catalog: SparkCatalog) -> dict[str, str]:
        """The profile's options for a catalog, from `spark_config` and from the catalog's own options, which win."""
        prefix = f"spark.sql.catalog.{catalog.name}."
        return {
            **{
                name.removeprefix(prefix): value
                for name, value in self.spark_config.items()
                if name.startswith(prefix)
            },
            **catalog.options,
        }

    def hadoop(self) -> dict[str, str]:
        """Hadoop's settings: `spark_config` over core-site.xml.

        Raises:
            DbtRuntimeError: core-site.xml cannot be read.
        """
        prefix = "spark.hadoop."
        return {
            **core_site(self.environ.get("HADOOP_CONF_DIR")),
            **{
                name.removeprefix(prefix): value
                for name, value in self.spark_config.items()
                if name.startswith(prefix)
            },
        }

    def has_jar(self, artifact: str) -> bool:
        """Whether a jar with this name is on Spark's class path."""
        settings = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
        named = [part for name in settings for part in re.split(r"[,:]", self.spark_config.get(name, ""))]
        override = self.environ.get("DBT_PAIMON_JARS", "").split(",")
        return any(artifact in jar for jar in (*self.jars, *named, *override)) or _is_in_spark(artifact)


def store_of(catalog: SparkCatalog, around: Surroundings) -> ObjectStore | None:
    """The Paimon plug-in that reads a catalog's warehouse; None if it is not one of Paimon's plug-ins.

    Hadoop handles a scheme that it has a file system for (`fs.s3.impl`, as on EMR; hadoop-aws for s3a), unless the
    catalog has keys.
    """
    store = STORES.get(catalog.scheme)
    if store is None:
        return None
    own = {store.option(name) for name in around.of_catalog(catalog)}
    if f"fs.{catalog.scheme}.impl" in around.hadoop() and not own & set(store.keys):
        return None
    return None if catalog.scheme in _OWN_SCHEME and around.has_jar(_HADOOP_AWS) else store


def warehouse_of(catalog: SparkCatalog, store: ObjectStore | None) -> str | None:
    """The warehouse, with the scheme that Paimon's plug-in is registered for."""
    if catalog.warehouse is None or store is None:
        return catalog.warehouse
    scheme = _OWN_SCHEME.get(catalog.scheme, catalog.scheme)
    return scheme + catalog.warehouse[len(catalog.scheme) :]


def catalog_options(catalog: SparkCatalog, store: ObjectStore | None, around: Surroundings) -> dict[str, str]:
    """The options to add to a catalog for its storage, beyond those in the profile.

    The profile's catalog options win over Hadoop's settings in `spark_config`, these over core-site.xml (in
    `HADOOP_CONF_DIR`), and that over the environment, which is read only if there are no keys at all.

    Raises:
        DbtRuntimeError: core-site.xml cannot be read.
    """
    given = around.of_catalog(catalog)
    options: dict[str, str] = {}
    if catalog.scheme in _NOT_ATOMIC and catalog.metastore in _LOCKING:
        # AbstractCatalog.lockEnabled: on by default for Paimon's plug-ins, not for a store behind Hadoop.
        options["lock.enabled"] = "true"
    if store is not None:
        own = {short: value for name, value in given.items() if (short := store.option(name)) is not None}
        found = {**store.bounds, **_found(store, own, around)}
        options |= {store.prefix + name: value for name, value in found.items() if name not in own}
        # S3Loader looks for a key under one name only, S3FileIO under several.
        options |= {store.prefix + key: own[key] for key in store.keys if key in own}
        if "aws.credentials.provider" in {*own, *found}:
            # The provider has the keys; S3Loader only checks that there are some.
            options |= {
                store.prefix + key: "provided" for key in store.keys if key not in own and key not in found
            }
    return {name: value for name, value in options.items() if name not in given}


def all_options(catalog: SparkCatalog, around: Surroundings) -> dict[str, str]:
    """All options of a catalog: the profile's and those of `catalog_options`."""
    return {**catalog_options(catalog, store_of(catalog, around), around), **around.of_catalog(catalog)}


def hadoop_settings(catalogs: Iterable[SparkCatalog]) -> dict[str, str]:
    """Spark settings for the storages that these catalogs reach through Hadoop."""
    schemes = {catalog.scheme for catalog in catalogs}
    conf: dict[str, str] = {}
    if schemes & {"hdfs", "viewfs", "webhdfs"}:
        conf |= HDFS_BOUNDS
    if "s3a" in schemes:
        conf |= {f"spark.hadoop.{S3.hadoop}{name}": value for name, value in S3.bounds.items()}
    return conf


def missing_keys(store: ObjectStore, options: Mapping[str, str], paimon_version: str) -> str:
    """Say which required options of a plug-in are missing; '' if none is.

    Args:
        options: all options of the catalog.
    """
    if store is S3 and Versions.of(paimon_version).supports(Capability.S3_WITHOUT_KEYS):
        return ""
    given = {store.option(name) for name in options}
    missing = [store.prefix + key for key in store.keys if key not in given]
    if not missing:
        return ""
    variables = ", ".join(
        name for name, option in store.environment.items() if store.prefix + option in missing
    )
    provider = (
        "; or name a provider of keys as s3.aws.credentials.provider, such as "
        "com.amazonaws.auth.DefaultAWSCredentialsProviderChain"
        if store is S3
        else ""
    )
    return (
        f"{', '.join(missing)}: missing. Write them under catalog_options in the profile (with env_var), or as "
        f"spark.hadoop.{store.hadoop}* under spark_config, or set {variables} in the environment{provider}."
    )


def settings_outside(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """The machine's storage settings (environment and core-site.xml) as (name, value), secrets included."""
    variables = [
        (store.prefix + option, environ[name])
        for store in (S3, OSS)
        for name, option in store.environment.items()
        if environ.get(name)
    ]
    # An unreadable file is reported where its settings are needed.
    with suppress(DbtRuntimeError):
        variables += core_site(environ.get("HADOOP_CONF_DIR")).items()
    return variables


def check_reachable(catalog: SparkCatalog, options: Mapping[str, str]) -> None:
    """Check that a catalog's storage takes connections, before a JVM is started and retries for minutes.

    Args:
        options: all options of the catalog. Nothing is checked if they name a proxy.

    Raises:
        DbtRuntimeError: the storage does not answer; the message has the remedy.
    """
    store = STORES.get(catalog.scheme)
    if store is None:
        address = urlsplit(catalog.warehouse or "")
        # Without a port this may be the name of a pair of name nodes, which DNS does not know.
        if catalog.scheme == "hdfs" and _port(address.netloc) is not None:
            _check_connection(
                address.hostname or "",
                _port(address.netloc) or 0,
                http=False,
                what=f"The name node of the warehouse {redact_text(catalog.warehouse or '')}",
                remedy="Correct the host and the port under `warehouse` in the profile (fs.defaultFS in the cluster's "
                "core-site.xml has them), or start HDFS.",
            )
        return
    plain = {store.option(name): value for name, value in options.items()}
    endpoint = plain.get("endpoint")
    if not endpoint or any(name and name.startswith("proxy.") for name in plain):
        return
    url = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
    if url.hostname:
        _check_connection(
            url.hostname,
            _port(url.netloc) or (80 if url.scheme == "http" else 443),
            http=url.scheme == "http",
            what=f"The {store.name} endpoint {redact_text(endpoint)} of the warehouse {catalog.warehouse}",
            remedy=f"Correct {store.prefix}endpoint under catalog_options in the profile, or start the server.",
        )


def writers(catalog: SparkCatalog, paimon_version: str) -> tuple[bool, str]:
    """Whether several processes may write a table of a catalog at once, and a sentence about it for `dbt debug`."""
    place = catalog.scheme or catalog.metastore
    if catalog.metastore == "rest":
        return True, "the REST server commits: several writers at once are safe"
    if catalog.scheme not in _NOT_ATOMIC:
        if catalog.scheme == "file":
            return True, "runs of dbt on this machine keep apart by locks; other programs do not know them"
        return True, f"a commit is one atomic rename on {place}: several writers at once are safe"
    if catalog.metastore in _LOCKING:
        if catalog.options.get("lock.enabled", "true").lower() == "false":
            return False, (
                f"a rename on {place} is not atomic, and lock.enabled is false: two writers of one table at once can "
                "lose rows. Take lock.enabled out of catalog_options"
            )
        return (
            True,
            f"a rename on {place} is not atomic; the {catalog.metastore} catalog locks: writers are safe",
        )
    if catalog.scheme == "oss" and Versions.of(paimon_version).supports(Capability.ATOMIC_OSS_COMMITS):
        return True, "a commit is one atomic put on oss: several writers at once are safe"
    return False, (
        f"a rename on {place} is not atomic, and a filesystem catalog has no lock: two writers of one table at once "
        "can lose rows. Let one dbt run at a time write, or set metastore to hive, which locks"
    )


def carries(jar: Path, store: ObjectStore) -> bool:
    """Whether a jar is, or contains, a storage's plug-in."""
    import zipfile

    try:
        with zipfile.ZipFile(jar) as archive:
            return store.loader in archive.NameToInfo
    except (OSError, zipfile.BadZipFile):
        return False


def _found(store: ObjectStore, own: Mapping[str, str], around: Surroundings) -> dict[str, str]:
    """What Hadoop's settings and the environment set, by option name without prefix."""
    environ = around.environ
    found = {
        store.synonyms.get(short, short): value
        for name, value in around.hadoop().items()
        if name.startswith(store.hadoop) and (short := name.removeprefix(store.hadoop))
    }
    known = {*own, *found}
    if not known & {*(key for key in store.keys if key != "endpoint"), "aws.credentials.provider"}:
        for name, option in store.environment.items():
            if environ.get(name) and option not in known:
                found[option] = environ[name]
    return found


@lru_cache(maxsize=4)
def core_site(folder: str | None) -> Mapping[str, str]:
    """The properties of the core-site.xml in a folder; empty if there is no such file.

    Raises:
        DbtRuntimeError: the file is not XML.
    """
    path = Path(folder) / "core-site.xml" if folder else None
    if path is None or not path.is_file():
        return MappingProxyType({})
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314 - the machine's own configuration
    except (OSError, ElementTree.ParseError) as exc:
        raise DbtRuntimeError(
            f"{path} cannot be read: {exc}. Correct it, or take HADOOP_CONF_DIR out of the environment."
        ) from exc
    pairs = ((item.findtext("name"), item.findtext("value")) for item in root.iter("property"))
    return MappingProxyType({name.strip(): value.strip() for name, value in pairs if name and value})


def _is_in_spark(artifact: str) -> bool:
    from pyspark.find_spark_home import _find_spark_home

    return any((Path(_find_spark_home()) / "jars").glob(f"{artifact}-*.jar"))


def _port(netloc: str) -> int | None:
    found = re.search(r":(\d+)$", netloc)
    return int(found.group(1)) if found else None


@lru_cache(maxsize=32)
def _check_connection(host: str, port: int, http: bool, what: str, remedy: str) -> None:
    # The threads of this process check each address once.
    try:
        with socket.create_connection((host, port), timeout=_ANSWERS_WITHIN) as connection:
            if not http:
                return
            connection.sendall(
                f"HEAD / HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode()
            )
            answer = connection.recv(8)
    except OSError as exc:
        reason = exc.strerror or str(exc)
        raise DbtRuntimeError(f"{what} does not answer ({reason}). {remedy}") from exc
    if not answer.startswith(b"HTTP/"):
        raise DbtRuntimeError(f"{what} does not speak HTTP. {remedy}")
