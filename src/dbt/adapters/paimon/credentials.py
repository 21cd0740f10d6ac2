"""A target of a profile: its keys, their checks, and which values may be shown."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from dbt.adapters.contracts.connection import Credentials
from dbt_common.dataclass_schema import StrEnum, ValidationError
from dbt_common.exceptions import DbtBaseException
from packaging.version import InvalidVersion, Version

from dbt.adapters.paimon.capabilities import DEFAULT_PAIMON_VERSION, OLDEST_PAIMON, RELEASES
from dbt.adapters.paimon.catalogs import storage
from dbt.adapters.paimon.catalogs.catalog import (
    METASTORES,
    SESSION_CATALOG,
    THRIFT_URI,
    SparkCatalog,
    absolute_location,
    location_scheme,
    option_text,
    split_list,
)
from dbt.adapters.paimon.errors.redaction import REFUSAL, is_secret_option, redact_text, redacted, secrets_of, tell_dbt
from dbt.adapters.paimon.keys import BOOLEAN, NUMBER, SECONDS, key_field
from dbt.adapters.paimon.machine.waiting import LONGEST_STALL, LONGEST_WAIT
from dbt.adapters.paimon.options.read_options import read_fault

DEFAULT_CATALOG = "paimon"
# What `timestamp` means in a statement: a moment (TIMESTAMP_LTZ), or a wall-clock time (TIMESTAMP_NTZ).
TIMESTAMP_TYPE = "spark.sql.timestampType"
ESCAPED_LITERALS = "spark.sql.parser.escapedStringLiterals"
# Spark SQL settings that are fixed when Spark starts; a session cannot have its own.
# Source: SQLConf.staticConfKeys of Spark 3.5.
STATIC_CONF = frozenset(
    f"spark.sql.{name}"
    for name in (
        "broadcastExchange.maxThreadThreshold cache.serializer catalog.spark_catalog.defaultDatabase "
        "catalogImplementation codegen.cache.maxEntries codegen.comments debug defaultUrlStreamHandlerFactory.enabled "
        "event.truncate.length extensions filesourceTableRelationCacheSize globalTempDatabase "
        "hive.thriftServer.singleSession legacy.sessionInitWithConfigDefaults metadataCacheTTLSeconds "
        "queryExecutionListeners sources.disabledJdbcConnProviderList sources.schemaStringLengthThreshold "
        "streaming.streamingQueryListeners streaming.ui.enabled streaming.ui.enabledCustomMetricList "
        "streaming.ui.retainedProgressUpdates streaming.ui.retainedQueries subquery.maxThreadThreshold "
        "ui.retainedExecutions warehouse.dir"
    ).split()
)

# Ports of a server if the profile does not set one: Spark's defaults.
_PORTS = {"connect": 15002, "thrift": 10000}
# How a clone is made; the first is the default.
CLONE_BY = ("copy", "branch")
# PyHive's values, named after hive.server2.authentication.
_AUTHS = ("NONE", "NOSASL", "LDAP", "CUSTOM", "KERBEROS")
# Keys that only some methods have.
METHODS_OF = {
    **dict.fromkeys(("host", "port", "user", "use_ssl"), ("connect", "thrift")),
    "token": ("connect",),
    **dict.fromkeys(("password", "auth", "kerberos_service_name"), ("thrift",)),
}
# Keys of dbt's own. Some commands pass them to the credentials, and others do not.
_DBT_KEYS = frozenset({"type", "threads", "name", "target_name", "profile_name"})
# Keys of dbt-spark's profiles that users bring along, with their equivalents.
_FOREIGN_KEYS = {
    "server_side_parameters": "write them under spark_config",
    "spark_master": "write it under spark_config as spark.master",
    "master": "write it under spark_config as spark.master",
    "location_root": "tables live in the catalog's warehouse: set warehouse",
}
_CATALOG_SETTING = re.compile(r"^spark\.sql\.catalog\.([^.]+)$")
_CATALOG_NAME = re.compile(r"^\w+$", re.ASCII)
# What the `uri` of a metastore is, how it begins, and an example.
_URIS = {
    "hive": ("an address of a metastore", THRIFT_URI, "thrift://host:9083"),
    "jdbc": ("a JDBC URL", re.compile(r"^jdbc:\w+:\S", re.ASCII), "jdbc:postgresql://host/db"),
    "rest": ("the URL of a REST catalog", re.compile(r"^https?://[^\s/]", re.IGNORECASE), "http://host:8080"),
}
_COORDINATES = re.compile(r"^[\w.-]+:[\w.-]+:[\w.-]+$", re.ASCII)


class PaimonConnectionMethod(StrEnum):
    """How dbt reaches Spark."""

    SESSION = "session"
    CONNECT = "connect"
    THRIFT = "thrift"


@dataclass(repr=False)
class PaimonCredentials(Credentials):
    """One target of a profile. `jars`, `packages` and `repositories` may be comma-separated text there."""

    database: str = key_field(
        DEFAULT_CATALOG,
        "The Spark catalog; every name is `catalog.schema.table`",
        default=f"`{DEFAULT_CATALOG}`",
        page="catalogs.md",
    )
    schema: str = key_field(
        "",
        "The Paimon database in which models are built; if `schema` is not set, `database` names it",
        default="required",
    )
    method: PaimonConnectionMethod = key_field(
        PaimonConnectionMethod.SESSION,
        "Where Spark runs: in dbt's process or on a cluster, or behind a Spark Connect or Thrift server",
        values=tuple(map(str, PaimonConnectionMethod)),
        page="deployment.md#which-engine",
    )
    host: str | None = key_field(
        None,
        "The server's host name; without it, `connect` means the warm server of this machine",
        page="deployment.md#a-warm-local-server",
    )
    port: int | None = key_field(
        None,
        "The port of the server",
        NUMBER,
        default=", ".join(f"`{port}` for {method}" for method, port in _PORTS.items()),
        page="deployment.md#spark-thrift-server",
    )
    user: str | None = key_field(None, "The user's name on the server", page="deployment.md#spark-thrift-server")
    password: str | None = key_field(
        None, "The user's password, with `auth: LDAP` or `CUSTOM`", page="deployment.md#spark-thrift-server"
    )
    token: str | None = key_field(
        None, "The token that a proxy of Spark Connect requires", page="deployment.md#spark-connect"
    )
    auth: str | None = key_field(
        None, "How the Thrift server authenticates users", values=_AUTHS, page="deployment.md#spark-thrift-server"
    )
    kerberos_service_name: str | None = key_field(
        None, "The service's name, with `auth: KERBEROS`", page="deployment.md#spark-thrift-server"
    )
    use_ssl: bool | None = key_field(
        None, "Whether the connection is encrypted", BOOLEAN, default="`false`", page="deployment.md#spark-connect"
    )
    metastore: str = key_field("filesystem", "The kind of the Paimon catalog", values=METASTORES, page="catalogs.md")
    warehouse: str | None = key_field(
        None,
        "Where the tables are: a path, or `hdfs://…`, `s3://…`, `oss://…`; for a `rest` catalog, the warehouse's name",
        "a path",
        default="required for `filesystem` and `jdbc`, unless a server named by `host` defines the catalog",
        page="storage.md",
    )
    uri: str | None = key_field(
        None,
        "The address of the catalog: `thrift://host:9083`, `jdbc:postgresql://host/db`, `http://host:8080`",
        default="required for `hive`, `jdbc` and `rest`, unless a server named by `host` defines the catalog",
        page="catalogs.md",
    )
    catalog_options: dict[str, str] = key_field(
        dict,
        "Further options of the catalog, such as access keys; `table-default.…` applies to every new table",
        "a mapping of options to values",
        page="catalogs.md",
    )
    view_catalog: str | None = key_field(
        None,
        "The Spark catalog that views are created in",
        default="the catalog itself if it has views, else `spark_catalog`",
        page="catalogs.md#views",
    )
    kafka_options: dict[str, str] = key_field(
        dict,
        "The Kafka broker and the login, for streams; each key begins with `kafka.`",
        "a mapping of settings to values",
        page="streaming.md#kafka",
    )
    spark_config: dict[str, str] = key_field(
        dict,
        "Any of Spark's settings, including `spark.master`",
        "a mapping of settings to values",
        page="deployment.md#which-engine",
    )
    paimon_version: str | None = key_field(
        None,
        "The Paimon release, which determines the connector for your Spark; it is downloaded once",
        "a full release number, in quotes",
        default="the newest tested release that can be downloaded, which the console shows; with `host`: 0.9.0, so set "
        "it to the server's release",
        page="compatibility.md#without-paimon_version",
    )
    jars: list[str] = key_field(
        list, "Jars to use instead of downloads, on this machine or in a store", "a list of paths", page="storage.md"
    )
    packages: list[str] = key_field(list, "Further jars to download", "a list of Maven coordinates", page="storage.md")
    repositories: list[str] = key_field(
        list, "Maven repositories to look in first", "a list of addresses", page="storage.md"
    )
    lock_timeout: int = key_field(
        int(LONGEST_WAIT),
        "How long a run waits for a table that another run is writing",
        SECONDS,
        page="reliability.md#waits",
    )
    s3_lock: bool | None = key_field(
        None,
        "Whether runs lock tables of a filesystem catalog on S3 with leases in the S3 bucket; needs `dbt-paimon[s3]`",
        BOOLEAN,
        default="`true` if the object store supports it",
        page="storage.md#leases-on-s3",
    )
    stall_timeout: int = key_field(
        int(LONGEST_STALL), "How long a statement may run without a Spark job", SECONDS, page="reliability.md#waits"
    )
    clone_by: str = key_field(
        CLONE_BY[0],
        "What `dbt clone` makes of an incremental model: a copy of its rows, or a branch and a view over it",
        values=CLONE_BY,
        page="pull-requests.md#a-pull-request",
    )

    _ALIASES: ClassVar[dict[str, str]] = {"catalog": "database"}

    def __post_init__(self) -> None:
        """Normalize values: option values become text, local paths absolute."""
        for key in ("spark_config", "catalog_options", "kafka_options"):
            options = {str(name): option_text(value) for name, value in getattr(self, key).items()}
            setattr(self, key, options)
        self.warehouse = self.spark_catalog.warehouse
        # The catalogs in catalogs.yml, by their names in Spark; dbt reads that file after the profile.
        self.integrations: dict[str, SparkCatalog] = {}
        self.jars = [absolute_location(jar) for jar in self.jars]
        tell_dbt(self.secrets)

    @property
    def type(self) -> str:
        return "paimon"

    @property
    def unique_field(self) -> str:
        """Identifies a lakehouse; dbt hashes it before it sends it anywhere."""
        return self.warehouse or self.uri or self.database

    @property
    def server_port(self) -> int:
        return self.port or _PORTS[self.method]

    @property
    def address(self) -> str:
        return "this machine" if self.host is None else f"{self.host}:{self.server_port}"

    @property
    def is_remote(self) -> bool:
        """Whether a server does the work; its jars and start settings are not ours to choose."""
        return self.host is not None

    @property
    def catalog(self) -> str:
        """The Spark catalog: dbt's `database`."""
        return self.database

    @property
    def spark_catalog(self) -> SparkCatalog:
        return SparkCatalog(self.database, self.metastore, self.warehouse, self.uri, self.catalog_options)

    @property
    def spark_catalogs(self) -> tuple[SparkCatalog, ...]:
        """The target's own catalog and those in catalogs.yml."""
        return (self.spark_catalog, *self.integrations.values())

    def catalog_of(self, name: str) -> SparkCatalog | None:
        """The catalog with this name, the target's own or from catalogs.yml."""
        return next((catalog for catalog in self.spark_catalogs if catalog.name == name), None)

    @property
    def paimon_catalogs(self) -> frozenset[str]:
        """The names of the Spark catalogs known to be Paimon's, including those in `spark_config`."""
        configured = self.configured_catalogs.items()
        added = (name for name, kind in configured if kind.startswith("org.apache.paimon.spark."))
        return frozenset({*(catalog.name for catalog in self.spark_catalogs), *added})

    @property
    def configured_catalogs(self) -> dict[str, str]:
        """The classes of the Spark catalogs in `spark_config`, by name."""
        found = ((_CATALOG_SETTING.match(key), kind) for key, kind in self.spark_config.items())
        return {name[1]: kind for name, kind in found if name}

    def storages(self) -> tuple[storage.Storage, ...]:
        """The storage settings that the warehouse of each catalog needs in Spark."""
        around = storage.StorageContext(self.spark_config, (*self.jars, *self.packages), os.environ)
        return tuple(storage.storage_of(catalog, around) for catalog in self.spark_catalogs)

    @property
    def spark_master(self) -> str:
        return self.spark_config.get("spark.master", "local[*]")

    @property
    def local_warehouse(self) -> Path | None:
        """The warehouse as a path on this machine; None if it is somewhere else."""
        return self.spark_catalog.local_folder

    def _connection_keys(self) -> tuple[str, ...]:
        return tuple(
            (
                "method host port user password token auth kerberos_service_name use_ssl catalog schema metastore uri "
                "warehouse catalog_options view_catalog kafka_options spark_master spark_config paimon_version jars "
                "packages repositories lock_timeout s3_lock stall_timeout clone_by"
            ).split()
        )

    def connection_info(self, *, with_aliases: bool = False) -> Iterable[tuple[str, Any]]:
        """The lines of `dbt debug` (only keys that are set), or Jinja's `target` (`with_aliases`); without secrets."""
        for key in self._connection_keys():
            value = getattr(self, key)
            unset = value is None or value in ({}, [])
            if unset and (key in METHODS_OF or not with_aliases):
                continue
            yield key, str(value) if isinstance(value, PaimonConnectionMethod) else redacted(key, value)
        if with_aliases:
            yield "database", self.database

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.connection_info())
        return f"{type(self).__name__}({shown})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secret values, the longest first."""
        addresses = [self.warehouse or "", self.uri or "", *self.jars, *self.repositories]
        return secrets_of(
            [
                *(("password", secret) for secret in (self.password, self.token) if secret),
                *self.spark_config.items(),
                *self.catalog_options.items(),
                *self.kafka_options.items(),
                *storage.settings_outside(os.environ),
                *(("", address) for address in addresses),
            ]
        )

    @classmethod
    def translate_aliases(cls, kwargs: dict[str, Any], recurse: bool = False) -> dict[str, Any]:
        """Resolve `catalog`, `database` and `schema` of a target; for a node's config, `catalog` is `database`.

        `catalog` stays in the result, so that dbt's second call changes nothing. `validate` reports contradictions.
        """
        if recurse or not _TARGET_KEYS & kwargs.keys():
            aliased: dict[str, Any] = super().translate_aliases(kwargs, recurse)
            # Checked here, before dbt writes them into the manifest.
            refuse_secret_options(aliased.get("tblproperties"))
            return aliased
        catalog, database, schema = (kwargs.get(key) for key in ("catalog", "database", "schema"))
        names = {}
        if schema is None and database not in (None, catalog):
            # Without `schema`, `database` names the Paimon database, and not the Spark catalog.
            names["schema"], database = database, None
        if database in (None, schema):
            database = DEFAULT_CATALOG if catalog is None else catalog
        if catalog in (None, database):
            names["catalog"] = names["database"] = database
        return {**kwargs, **names}

    @classmethod
    def validate(cls, data: Any) -> None:
        """Refuse a target with a message that lists every problem; dbt adds the names of profile and target."""
        if problems := profile_problems(data):
            raise ValidationError("\n" + "\n".join(f"  - {problem}" for problem in problems))

    @classmethod
    def __pre_deserialize__(cls, data: dict[str, Any]) -> dict[str, Any]:
        data = super().__pre_deserialize__(data)  # type: ignore[no-untyped-call]
        data = {key: value for key, value in data.items() if value is not None}
        for key in ("jars", "packages", "repositories"):
            if isinstance(data.get(key), str):
                data[key] = split_list(data[key])
        return data


# Every valid target has one of these, and no model config does.
_TARGET_KEYS = frozenset({"method", "metastore", "warehouse", "uri"})
_METHODS = tuple(map(str, PaimonConnectionMethod))
_ALLOWED = frozenset(
    {*(each.name for each in fields(PaimonCredentials) if each.name[0] != "_"), *PaimonCredentials._ALIASES}
)


def profile_problems(data: Any) -> list[str]:
    """Everything that is wrong with a target after `PaimonCredentials.translate_aliases`, each with the remedy."""
    if not isinstance(data, Mapping):
        return [f"a target is a mapping of keys to values, not {_kind(data)}"]
    given = {key: value for key, value in data.items() if value is not None and key not in _DBT_KEYS}
    checks = (_key_problems, _default_problems, _name_problems, _server_problems, _storage_problems)
    return [problem for check in checks for problem in check(given)]


def _key_problems(given: Mapping[str, Any]) -> Iterable[str]:
    yield from (_unknown_key(str(key)) for key in given if key not in _ALLOWED)
    for key, check in _CHECKS.items():
        if key in given:
            yield from (f"{key}: {problem}" for problem in check(given[key]))


def _unknown_key(key: str) -> str:
    if key in _FOREIGN_KEYS:
        return f"{key}: not a key of a paimon profile; {_FOREIGN_KEYS[key]}"
    if key.startswith("spark."):
        return f"{key}: not a key of a paimon profile; Spark's settings go under spark_config"
    keys = sorted(_ALLOWED | {"threads"})
    close = difflib.get_close_matches(key, keys, n=1)
    hint = f"did you mean {close[0]}?" if close else f"the keys are {', '.join(keys)}"
    return f"{key}: not a key of a paimon profile; {hint}"


def _default_problems(given: Mapping[str, Any]) -> Iterable[str]:
    """Refuses read options among `table-default.*`, which every new table would get."""
    options = given.get("catalog_options")
    for name, value in options.items() if isinstance(options, Mapping) else ():
        fault = read_fault(str(name).removeprefix("table-default."), option_text(value))
        if fault and str(name).startswith("table-default."):
            yield f"catalog_options: {name}: {fault}"


def _name_problems(given: Mapping[str, Any]) -> Iterable[str]:
    catalog, database, schema = (given.get(key) for key in ("catalog", "database", "schema"))
    if catalog is not None and database is not None and database not in (catalog, schema):
        yield (
            f"catalog ({catalog}), database ({database}) and schema ({schema}) contradict one another: `catalog` is "
            "the Spark catalog, `schema` is Paimon's database; leave `database` out"
        )
    if schema is None:
        yield "schema: missing; name the Paimon database that models are built in"
    if given.get("view_catalog") is not None and given.get("view_catalog") == (catalog or database):
        yield "view_catalog: the same as catalog; leave it out where the Paimon catalog holds views itself"


def _server_problems(given: Mapping[str, Any]) -> Iterable[str]:
    method = given.get("method", "session")
    if method in _METHODS:
        yield from _method_problems(given, method)
    yield from _login_problems(given)
    if "host" in given and method in ("connect", "thrift"):
        yield from _settings_of_a_server(given)


def _method_problems(given: Mapping[str, Any], method: str) -> Iterable[str]:
    for key, methods in METHODS_OF.items():
        if key in given and method not in methods:
            hint = ", or name a cluster in spark_config as spark.master" if key == "host" else ""
            where = " or ".join(methods)
            yield f"{key}: method {method} does not use it; set method to {where}, or remove {key}{hint}"
    if method == "thrift" and "host" not in given:
        yield "host: missing; name the machine of the Thrift server"
    if method == "connect" and "host" not in given and "port" in given:
        yield (
            "port: without host, the target uses the server of `dbt-paimon server`, which chooses its own port; "
            "add host, or leave port out"
        )


def _login_problems(given: Mapping[str, Any]) -> Iterable[str]:
    auth = given.get("auth", "NONE")
    if auth in ("LDAP", "CUSTOM") and "password" not in given:
        yield f"password: missing; auth {auth} requires one"
    if auth == "KERBEROS" and "kerberos_service_name" not in given:
        yield "kerberos_service_name: missing; auth KERBEROS requires it"


def _settings_of_a_server(given: Mapping[str, Any]) -> Iterable[str]:
    if given.get("s3_lock") is True:
        yield "s3_lock: a run cannot lock for a server, which may go on writing when the run has ended; leave it out"
    for key in ("jars", "packages", "repositories"):
        if given.get(key):
            yield f"{key}: a server gets its jars when it starts; leave it out here"
    config = given.get("spark_config")
    names = config if isinstance(config, Mapping) else {}
    fixed = [str(name) for name in names if not str(name).startswith("spark.sql.") or name in STATIC_CONF]
    if fixed:
        yield f"spark_config: {', '.join(fixed)}: fixed when a server starts; set it there, and leave it out here"


def _storage_problems(given: Mapping[str, Any]) -> Iterable[str]:
    if "host" in given and not {"warehouse", "uri"} & given.keys():
        # The server defines the catalog.
        return
    metastore = given.get("metastore", "filesystem")
    if metastore in ("filesystem", "jdbc") and "warehouse" not in given:
        yield f"warehouse: missing; a {metastore} catalog needs the path its tables live under"
    yield from (f"uri: {problem}" for problem in _uri_problems(given.get("uri"), metastore))
    if (given.get("catalog") or given.get("database")) == SESSION_CATALOG and metastore != "hive":
        yield (
            "catalog: spark_catalog is Spark's own, which keeps its tables in a Hive metastore: set metastore to hive "
            "and uri to its address, or give Paimon's catalog another name, such as paimon"
        )


def _uri_problems(uri: Any, metastore: Any) -> Iterable[str]:
    if metastore == "filesystem" and uri is not None:
        yield "a filesystem catalog has none; set metastore to hive, jdbc or rest, or leave uri out"
    if metastore not in _URIS:
        return
    what, pattern, example = _URIS[metastore]
    if uri is None:
        yield f"missing; a {metastore} catalog needs its address, such as {example}"
    elif isinstance(uri, str):
        for address in split_list(uri) if metastore == "hive" else [uri]:
            if not pattern.match(address):
                yield f"{redact_text(address)!r} is not {what}, such as {example}"


def _text(value: Any) -> Iterable[str]:
    if not isinstance(value, str):
        yield f"must be text, not {_kind(value)}"
    elif not value.strip():
        yield "must not be empty"


def _port(value: Any) -> Iterable[str]:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 65536:
        yield f"{value!r} is not a port; write a number from 1 to 65535"


def _seconds(value: Any) -> Iterable[str]:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        yield f"{value!r} is not a duration; write a whole number of seconds, 1 or more"


def _boolean(value: Any) -> Iterable[str]:
    if not isinstance(value, bool):
        yield f"must be true or false, not {_kind(value)}"


def _catalog_name(value: Any) -> Iterable[str]:
    yield from _text(value)
    if isinstance(value, str) and value.strip() and not _CATALOG_NAME.match(value):
        yield f"{value!r} is not a catalog name; use letters, digits and underscores"


def _schema_name(value: Any) -> Iterable[str]:
    yield from _text(value)
    if isinstance(value, str) and value.strip():
        if re.search(r"[\s./`\\]", value):
            yield f"{value!r} is not a schema name; use one name without dots, slashes, quotes or spaces"
        elif value == "sys":
            yield "sys is Paimon's own schema; choose another name"


def _one_of(*allowed: str) -> Callable[[Any], Iterable[str]]:
    def check(value: Any) -> Iterable[str]:
        if value not in allowed:
            close = difflib.get_close_matches(str(value), allowed, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            yield f"{redact_text(str(value))!r} is not one of {', '.join(allowed)}{hint}"

    return check


def _version(value: Any) -> Iterable[str]:
    known = ", ".join(RELEASES)
    try:
        version = Version(str(value).replace("-SNAPSHOT", ".dev0"))
    except InvalidVersion:
        yield f"{str(value)!r} is not a version; write it in full and in quotes, one of {known}"
        return
    if not isinstance(value, str):
        # YAML reads 1.10 as the number 1.1, so the version must be quoted text.
        yield f"must be text; write it in full and in quotes, such as {DEFAULT_PAIMON_VERSION!r}"
    elif version < OLDEST_PAIMON:
        yield f"{value!r} is too old; the oldest supported is {OLDEST_PAIMON}, write one of {known}"
    elif len(version.release) < 3 and not version.is_devrelease:
        yield f"{value!r} is a release line; write a full version, one of {known}"


def _options(value: Any) -> Iterable[str]:
    if not isinstance(value, Mapping):
        yield f"must be a mapping of options to values, not {_kind(value)}"
        return
    for name, setting in value.items():
        if not isinstance(name, str):
            yield f"{name}: option names must be text"
        if isinstance(setting, (Mapping, list)) or setting is None:
            yield f"{name}: must be text, a number or a boolean, not {_kind(setting)}"


def _spark_config(value: Any) -> Iterable[str]:
    yield from _options(value)
    if isinstance(value, Mapping):
        if str(value.get(TIMESTAMP_TYPE, "TIMESTAMP_LTZ")).upper() != "TIMESTAMP_LTZ":
            yield (
                f"{TIMESTAMP_TYPE}: a column that is `timestamp` in a query would lose its time zone in the table; "
                "write `timestamp_ntz` for times without a time zone"
            )
        if str(value.get(ESCAPED_LITERALS, "false")).lower() == "true":
            yield (
                f"{ESCAPED_LITERALS}: backslashes and quotes in dbt-paimon's own statements would become part of the "
                "values; remove it, and write regular expressions as raw literals, as in r'\\d+'"
            )
        for name in value:
            if isinstance(name, str) and not name.startswith("spark."):
                hint = f"; did you mean spark.hadoop.{name}?" if name.startswith("fs.") else ""
                yield f"{name}: Spark's settings begin with `spark.`{hint}"


def _kafka_options(value: Any) -> Iterable[str]:
    yield from _options(value)
    if isinstance(value, Mapping):
        for name in value:
            if isinstance(name, str) and not name.startswith("kafka."):
                yield f"{name}: Kafka's settings begin with `kafka.` here; did you mean kafka.{name}?"


def _names(what: str, check: Callable[[str], str | None] = lambda _: None) -> Callable[[Any], Iterable[str]]:
    def problems(value: Any) -> Iterable[str]:
        if isinstance(value, str):
            value = split_list(value)
        if not isinstance(value, (list, tuple)):
            yield f"must be a list of {what}, not {_kind(value)}"
            return
        for item in value:
            if not isinstance(item, str) or not item.strip():
                yield f"{item!r} is not a name; write a list of {what}"
            elif problem := check(item.strip()):
                yield problem

    return problems


def _jar_problem(jar: str) -> str | None:
    if _COORDINATES.match(jar):
        return f"{jar!r} is a Maven coordinate, not a path; write it under packages"
    if location_scheme(jar) in ("http", "https"):
        return f"{redact_text(jar)!r} is not a local path; download it, or name it under packages"
    return None


def _package_problem(package: str) -> str | None:
    if _COORDINATES.match(package):
        return None
    return f"{package!r} is not a Maven coordinate; write group:artifact:version"


_CHECKS: dict[str, Callable[[Any], Iterable[str]]] = {
    "method": _one_of(*_METHODS),
    "catalog": _catalog_name,
    "schema": _schema_name,
    "host": _text,
    "port": _port,
    "user": _text,
    "password": _text,
    "token": _text,
    "auth": _one_of(*_AUTHS),
    "kerberos_service_name": _text,
    "use_ssl": _boolean,
    "metastore": _one_of(*METASTORES),
    "warehouse": _text,
    "uri": _text,
    "catalog_options": _options,
    "view_catalog": _catalog_name,
    "kafka_options": _kafka_options,
    "spark_config": _spark_config,
    "paimon_version": _version,
    "jars": _names("paths", _jar_problem),
    "packages": _names("Maven coordinates", _package_problem),
    "repositories": _names("addresses"),
    "lock_timeout": _seconds,
    "s3_lock": _boolean,
    "stall_timeout": _seconds,
    "clone_by": _one_of(*CLONE_BY),
}


_KINDS: dict[type, str] = {
    type(None): "nothing",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a mapping",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)


class SecretOptionError(ValidationError, DbtBaseException):
    """A secret in `tblproperties`.

    dbt catches the first base class while it parses, and prints errors of the second one without a stack trace.
    """


def refuse_secret_options(properties: Any) -> None:
    """Refuse secrets in a node's `tblproperties`."""
    if isinstance(properties, Mapping):
        names = [str(name) for name, value in properties.items() if is_secret_option(str(name)) and value is not None]
        if names:
            raise SecretOptionError(f"tblproperties: {', '.join(names)}: {REFUSAL}.")
