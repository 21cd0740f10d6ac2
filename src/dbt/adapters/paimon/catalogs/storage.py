"""Derives the options and settings that Spark needs for a catalog's warehouse, from the profile and the machine."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.hadoop import bounds, core_site
from dbt.adapters.paimon.catalogs.object_stores import OSS, OWN_SCHEME, S3, STORES, ObjectStore
from dbt.adapters.paimon.catalogs.writers import LOCKING, NOT_ATOMIC

_HADOOP_AWS: Final = "hadoop-aws"
_PROVIDER: Final = "aws.credentials.provider"
_OR_A_PROVIDER: Final = f"; or set s3.{_PROVIDER}, for example to com.amazonaws.auth.DefaultAWSCredentialsProviderChain"


@dataclass(frozen=True)
class StorageContext:
    """What applies in addition to a catalog's options: the profile's settings and jars, and the environment."""

    spark_config: Mapping[str, str]
    jars: tuple[str, ...]
    environ: Mapping[str, str]

    def of_catalog(self, catalog: SparkCatalog) -> dict[str, str]:
        """The profile's options for a catalog: `spark_config`, overridden by the catalog's own options."""
        return {**self._spark_settings(f"spark.sql.catalog.{catalog.name}."), **catalog.options}

    def hadoop(self) -> dict[str, str]:
        """Hadoop's settings: core-site.xml, overridden by `spark_config`."""
        return {**core_site(self.environ.get("HADOOP_CONF_DIR")), **self._spark_settings("spark.hadoop.")}

    def _spark_settings(self, prefix: str) -> dict[str, str]:
        return {
            name.removeprefix(prefix): value for name, value in self.spark_config.items() if name.startswith(prefix)
        }

    def has_jar(self, artifact: str) -> bool:
        """Whether a jar of this artifact is on Spark's class path."""
        settings = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
        named = [part for name in settings for part in re.split(r"[,:]", self.spark_config.get(name, ""))]
        override = self.environ.get("DBT_PAIMON_JARS", "").split(",")
        return any(artifact in jar for jar in (*self.jars, *named, *override)) or _is_in_spark(artifact)


@dataclass(frozen=True, repr=False)
class Storage:
    """Everything that Spark needs for a catalog's warehouse; made by `storage_of`.

    Attributes:
        plug_in: Paimon's plug-in for the warehouse, or None.
        warehouse: the warehouse, with the scheme that the plug-in is registered for.
        added: options in addition to the profile's; `options` are all options of the catalog.
        settings: Spark settings, for storage that Hadoop accesses.
    """

    catalog: SparkCatalog
    plug_in: ObjectStore | None
    warehouse: str | None
    added: Mapping[str, str]
    options: Mapping[str, str]
    settings: Mapping[str, str]
    around: StorageContext

    @property
    def s3_options(self) -> dict[str, str]:
        """The options of a warehouse on S3 by name without prefix, even if Hadoop reads the warehouse."""
        given = self.around.of_catalog(self.catalog)
        own = S3.own_options(given)
        return {**_found(S3, own, self.around), **own}

    def missing_keys(self, versions: Versions) -> str:
        """A message about required options of the plug-in that are missing; '' if all are set."""
        store = self.plug_in
        if store is None or (store is S3 and versions.supports(Capability.S3_WITHOUT_KEYS)):
            return ""
        given = set(map(store.option, self.options))
        missing = [store.prefix + key for key in store.keys if key not in given]
        if not missing:
            return ""
        known = {name.removeprefix(store.prefix) for name in given if name}
        wanted = ((name, option) for name, option in store.environment.items() if store.prefix + option in missing)
        variables = ", ".join(name for name, option in wanted if _is_from_environment(store, option, known))
        environment = f", or set {variables} in the environment" if variables else ""
        provider = _OR_A_PROVIDER if store is S3 else ""
        return (
            f"{', '.join(missing)}: missing. Set them under catalog_options in the profile (with env_var), or as "
            f"spark.hadoop.{store.hadoop}* under spark_config{environment}{provider}."
        )


def storage_of(catalog: SparkCatalog, around: StorageContext) -> Storage:
    """Derive the storage of a catalog's warehouse."""
    given = around.of_catalog(catalog)
    plug_in = _plug_in(catalog, given, around)
    warehouse = catalog.warehouse
    if warehouse is not None and plug_in is not None:
        scheme = OWN_SCHEME.get(catalog.scheme, catalog.scheme)
        warehouse = scheme + warehouse[len(catalog.scheme) :]
    added = _added(catalog, plug_in, given, around)
    return Storage(catalog, plug_in, warehouse, added, {**added, **given}, bounds(catalog.scheme), around)


def settings_outside(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """The machine's storage settings (environment and core-site.xml) as (name, value), including secrets."""
    variables = [
        (store.prefix + option, environ[name])
        for store in (S3, OSS)
        for name, option in store.environment.items()
        if environ.get(name)
    ]
    # An invalid core-site.xml is reported where its settings are needed.
    with suppress(DbtRuntimeError):
        variables += core_site(environ.get("HADOOP_CONF_DIR")).items()
    return variables


def _plug_in(catalog: SparkCatalog, given: Mapping[str, str], around: StorageContext) -> ObjectStore | None:
    # Hadoop reads a scheme if `fs.<scheme>.impl` is set (as for s3 on EMR) and the catalog has no keys. It reads s3a://
    # if hadoop-aws is on the class path, even with keys.
    store = STORES.get(catalog.scheme)
    if store is None:
        return None
    own = {store.option(name) for name in given}
    if f"fs.{catalog.scheme}.impl" in around.hadoop() and not own & set(store.keys):
        return None
    return None if catalog.scheme in OWN_SCHEME and around.has_jar(_HADOOP_AWS) else store


def _added(
    catalog: SparkCatalog, store: ObjectStore | None, given: Mapping[str, str], around: StorageContext
) -> dict[str, str]:
    # Precedence: catalog options in the profile, Hadoop settings in `spark_config`, core-site.xml (`HADOOP_CONF_DIR`),
    # and the environment, which is read only if no other place has keys.
    options: dict[str, str] = {}
    if catalog.scheme in NOT_ATOMIC and catalog.metastore in LOCKING:
        # AbstractCatalog.lockEnabled: by default true for Paimon's plug-ins, but not for Hadoop's file systems.
        options["lock.enabled"] = "true"
    if store is not None:
        added = _added_of(store, store.own_options(given), around)
        options |= {store.prefix + name: value for name, value in added.items()}
    return {name: value for name, value in options.items() if name not in given}


def _added_of(store: ObjectStore, own: Mapping[str, str], around: StorageContext) -> dict[str, str]:
    """The options to add to a plug-in's own, by name without prefix."""
    found = {**store.bounds, **_found(store, own, around)}
    # S3Loader accepts only one spelling of a key, but S3FileIO several; so keys are added in the spelling of S3Loader.
    added = {name: value for name, value in {**found, **own}.items() if name not in own or name in store.keys}
    if _PROVIDER in {*own, *found}:
        # The provider supplies the keys; S3Loader only checks that some are set.
        return {**dict.fromkeys(store.keys, "provided"), **added}
    return added


def _found(store: ObjectStore, own: Mapping[str, str], around: StorageContext) -> dict[str, str]:
    """Options from Hadoop's settings and the environment, by name without prefix."""
    environ = around.environ
    found = {
        store.synonyms.get(short, short): value
        for name, value in around.hadoop().items()
        if name.startswith(store.hadoop) and (short := name.removeprefix(store.hadoop))
    }
    known = {*own, *found}
    for name, option in store.environment.items():
        if environ.get(name) and option not in known and _is_from_environment(store, option, known):
            found[option] = environ[name]
    return found


def _is_from_environment(store: ObjectStore, option: str, known: Collection[str]) -> bool:
    """Whether an option may come from the environment: keys and what belongs to them have one origin."""
    is_required_endpoint = option == "endpoint" and option in store.keys
    return is_required_endpoint or not {*known} & {*(key for key in store.keys if key != "endpoint"), _PROVIDER}


def _is_in_spark(artifact: str) -> bool:
    try:
        from pyspark.find_spark_home import _find_spark_home
    except ImportError:
        # Code that needs PySpark reports that PySpark is missing. `method: thrift` does not need it.
        return False
    return any((Path(_find_spark_home()) / "jars").glob(f"{artifact}-*.jar"))
