"""A target of a profile: its keys, and which values may be shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from dbt.adapters.contracts.connection import Credentials
from dbt_common.dataclass_schema import ValidationError

from dbt.adapters.paimon.catalogs import storage
from dbt.adapters.paimon.catalogs.catalog import (
    METASTORES,
    SparkCatalog,
    absolute_location,
    option_text,
    split_list,
)
from dbt.adapters.paimon.config_keys import BOOLEAN, NUMBER, SECONDS, key_field
from dbt.adapters.paimon.connection_methods import METHODS_OF, PORTS, PaimonConnectionMethod
from dbt.adapters.paimon.errors.redaction import redacted, refuse_secret_options, secrets_of, tell_dbt
from dbt.adapters.paimon.machine.waiting import LONGEST_STALL, LONGEST_WAIT
from dbt.adapters.paimon.profile_checks import AUTHS, CLONE_BY, profile_problems

DEFAULT_CATALOG = "paimon"
# Every valid target has one of these, and no model config does.
_TARGET_KEYS = frozenset({"method", "metastore", "warehouse", "uri"})
_TABLE_DEFAULT = "table-default."
_CATALOG_SETTING = re.compile(r"^spark\.sql\.catalog\.([^.]+)$")


@dataclass(repr=False)
class PaimonCredentials(Credentials):
    """One target of a profile. `jars`, `packages` and `repositories` may be comma-separated strings there."""

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
        default=", ".join(f"`{port}` for {method}" for method, port in PORTS.items()),
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
        None, "How the Thrift server authenticates users", values=AUTHS, page="deployment.md#spark-thrift-server"
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
        "Further options of the catalog, such as access keys; `table-default.…` is a default of each model's options",
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
        default="the newest tested release that can be downloaded (each run logs it); 0.9.0 with `host`, so set the "
        "server's release",
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
        default="not set: `true` if the store and botocore allow it, otherwise no lock and a warning",
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
        """Normalize values: option values become strings, and local paths absolute."""
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
        """Identifies a lakehouse. dbt's usage statistics contain only a hash of this value."""
        return self.warehouse or self.uri or self.database

    @property
    def server_port(self) -> int:
        return self.port or PORTS[self.method]

    @property
    def address(self) -> str:
        return "this machine" if self.host is None else f"{self.host}:{self.server_port}"

    @property
    def is_remote(self) -> bool:
        """Whether the server at `host` runs Spark; dbt cannot choose its jars and start settings."""
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

    def metastore_of(self, name: str | None) -> str:
        """The kind of a catalog, or of the target's own if the name is not known."""
        known = self.catalog_of(name or "")
        return self.metastore if known is None else known.metastore

    def table_defaults(self, catalog: str) -> dict[str, str]:
        """The options that a catalog gives each new table: `table-default.…` of the profile or of catalogs.yml."""
        settings, known = self.spark_config.items(), self.catalog_of(catalog)
        prefix = f"spark.sql.catalog.{catalog}.{_TABLE_DEFAULT}"
        found = {key.removeprefix(prefix): value for key, value in settings if key.startswith(prefix)}
        options = known.options.items() if known else ()
        own = {key.removeprefix(_TABLE_DEFAULT): value for key, value in options if key.startswith(_TABLE_DEFAULT)}
        return {**found, **own}

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
        added = self.integrations.values()
        addresses += [address for catalog in added for address in (catalog.warehouse, catalog.uri) if address]
        return secrets_of(
            [
                *(("password", secret) for secret in (self.password, self.token) if secret),
                *self.spark_config.items(),
                *self.catalog_options.items(),
                *(option for catalog in added for option in catalog.options.items()),
                *self.kafka_options.items(),
                *storage.settings_outside(os.environ),
                *(("", address) for address in addresses),
            ]
        )

    @classmethod
    def translate_aliases(cls, kwargs: dict[str, Any], recurse: bool = False) -> dict[str, Any]:
        """Resolve a target's `catalog`, `database` and `schema`; in a node's config, `catalog` means `database`.

        `catalog` stays in the result, so that dbt's second call changes nothing. `validate` reports contradictions.
        """
        if recurse or not _TARGET_KEYS & kwargs.keys():
            aliased: dict[str, Any] = super().translate_aliases(kwargs, recurse)
            # Refuse secrets before dbt writes them into the manifest.
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
    def problems(cls, data: Any) -> list[str]:
        """Everything that is wrong with a target (see `profile_problems`)."""
        return profile_problems(data, {*(each.name for each in fields(cls) if each.name[0] != "_"), *cls._ALIASES})

    @classmethod
    def validate(cls, data: Any) -> None:
        """Refuse a target with a message that lists every problem; dbt adds the names of profile and target."""
        if problems := cls.problems(data):
            raise ValidationError("\n" + "\n".join(f"  - {problem}" for problem in problems))

    @classmethod
    def __pre_deserialize__(cls, data: dict[str, Any]) -> dict[str, Any]:
        data = super().__pre_deserialize__(data)  # type: ignore[no-untyped-call]
        data = {key: value for key, value in data.items() if value is not None}
        for key in ("jars", "packages", "repositories"):
            if isinstance(data.get(key), str):
                data[key] = split_list(data[key])
        return data
