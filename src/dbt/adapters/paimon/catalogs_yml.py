"""Reads `catalogs.yml`: a project's Paimon catalogs in addition to the one in the profile.

Source: https://docs.getdbt.com/docs/mesh/iceberg/about-catalogs for the file's layout. Here `catalog_type` is Paimon's
metastore, `external_volume` its warehouse, and `adapter_properties` has `uri` and any other catalog option. Version 2
of the file (dbt-core 1.12, flag `use_catalogs_v2`) has all of these in `config: {paimon: …}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.catalogs import (
    CatalogIntegration,
    CatalogIntegrationConfig,
    InvalidCatalogIntegrationConfigError,
)
from dbt.adapters.contracts.relation import RelationConfig
from dbt_common.dataclass_schema import ValidationError
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import METASTORES, SESSION_CATALOG, SparkCatalog, option_text
from dbt.adapters.paimon.credentials import PaimonCredentials, profile_problems
from dbt.adapters.paimon.options.table_options import suggestion

if TYPE_CHECKING:
    from dbt.adapters.catalogs import CatalogV2

_TABLE_FORMAT = "paimon"
# In version 2, dbt's word for the adapter's native table format.
_V2_DEFAULT: Final = "default"
_CATALOG_SETTING: Final = "spark.sql.catalog."


@dataclass
class PaimonCatalogRelation:
    """The catalog of a model with a `catalog_name`; implements dbt's protocol CatalogRelation."""

    catalog_name: str | None
    catalog_database: str
    table_format: str | None = _TABLE_FORMAT
    external_volume: str | None = None
    file_format: str | None = None


class PaimonCatalogIntegration(CatalogIntegration):
    """A catalog in `catalogs.yml`; its write integration's name is its name in Spark.

    Raises:
        InvalidCatalogIntegrationConfigError: everything that is wrong with it, in one message.
    """

    table_format = _TABLE_FORMAT
    allows_writes = True

    def __init__(self, config: CatalogIntegrationConfig) -> None:
        super().__init__(config)
        properties = dict(config.adapter_properties or {})
        target: dict[str, Any] = {
            "catalog": self.catalog_name,
            "schema": "any",
            "metastore": self.catalog_type,
            "warehouse": config.external_volume,
            "uri": properties.pop("uri", None),
            "catalog_options": properties,
        }
        problems = [
            "name: spark_catalog can only be the profile's own catalog (`catalog: spark_catalog`); give it another name"
            for name in [self.catalog_name]
            if name == SESSION_CATALOG
        ]
        problems += [_in_catalogs_yml(problem) for problem in profile_problems(target)]
        if getattr(config, "catalog_database", None):
            problems.append("catalog_database: a Spark catalog has no level above its schemas; leave it out")
        if config.table_format not in (None, _TABLE_FORMAT):
            problems.append(
                f"table_format: {config.table_format!r} is not supported; leave it out, or write {_V2_DEFAULT} "
                "where use_catalogs_v2 is on"
            )
        if problems:
            listed = "".join(f"\n  - {problem}" for problem in problems)
            raise InvalidCatalogIntegrationConfigError(config.name, f"In catalogs.yml:{listed}")
        options = {name: option_text(value) for name, value in properties.items()}
        if self.file_format:
            options.setdefault("table-default.file.format", self.file_format)
        self.spark_catalog = SparkCatalog.of(
            self.catalog_name or "", self.catalog_type, config.external_volume, target["uri"], options
        )

    def build_relation(self, config: RelationConfig) -> PaimonCatalogRelation:
        """The Spark catalog, as dbt's `database`, in which a model with this `catalog_name` is built."""
        return PaimonCatalogRelation(
            self.name, self.spark_catalog.name, self.table_format, self.external_volume, self.file_format
        )


def of_project(
    config: Any, bridge: Callable[[CatalogV2], CatalogIntegrationConfig]
) -> Iterable[CatalogIntegrationConfig]:
    """The active write integrations in a project's catalogs.yml.

    dbt-core only passes them for some commands (not for `dbt ls`, `docs generate`, `clone`, `run-operation`, `source
    freshness`), and without them the others would not know where a model is.

    Args:
        config: dbt's RuntimeConfig; without a project (`dbt debug`) there are no catalogs.
        bridge: converts a catalog of version 2 into an integration.

    Raises:
        DbtBaseException: what is wrong with the file, in one message.
    """
    root = getattr(config, "project_root", None)
    if not root:
        return
    from dbt.config import catalogs as core

    try:
        if _is_version_2():
            found: list[Any] = core.load_catalogs_v2(root, config.project_name, config.cli_vars)
            yield from map(bridge, found)
            return
        for catalog in core.load_catalogs(root, config.project_name, config.cli_vars):
            active = core.get_active_write_integration(catalog)
            if active is not None:
                yield active
    except ValidationError as exc:
        raise DbtRuntimeError(_malformed(exc)) from None


def v2_table_format(catalog: CatalogV2) -> str:
    """The table format of a version 2 catalog, in the form that an integration takes."""
    return _TABLE_FORMAT if catalog.table_format.value == _V2_DEFAULT else str(catalog.table_format.value)


def known(credentials: PaimonCredentials) -> frozenset[str]:
    """The Spark catalogs in the profile and catalogs.yml, and Spark's own."""
    configured = (
        key.removeprefix(_CATALOG_SETTING)
        for key in credentials.spark_config
        if key.startswith(_CATALOG_SETTING) and "." not in key.removeprefix(_CATALOG_SETTING)
    )
    ours = (catalog.name for catalog in credentials.spark_catalogs)
    view_catalog = filter(None, [credentials.view_catalog])
    return frozenset({*ours, *configured, *view_catalog, SESSION_CATALOG})


def unknown_catalog(name: str, credentials: PaimonCredentials) -> str:
    """The error for a node whose catalog Spark does not have."""
    others = sorted(known(credentials) - {SESSION_CATALOG})
    near = suggestion(name, others)
    hint = f"Did you mean {near}? " if near else ""
    return (
        f"database {name!r}: Spark has no catalog of this name; this target has {', '.join(others)}. {hint}"
        f"Leave `database` out to build in {credentials.database}; what Paimon calls a database is dbt's `schema`. "
        "Define a further catalog in catalogs.yml and set `catalog_name` on the node."
    )


def unknown_integration(name: str, names: Iterable[str]) -> str:
    """The error for a `catalog_name` that is not in catalogs.yml."""
    there = sorted(names)
    if not there:
        return (
            f"catalog_name {name!r}: the project has no catalogs.yml with a catalog in it. Add it there, or leave "
            "catalog_name out to build in the catalog of the profile."
        )
    near = suggestion(name, there)
    hint = f"Did you mean {near}? " if near else ""
    return (
        f"catalog_name {name!r} is not in catalogs.yml; the names there are {', '.join(there)}. {hint}Use one of them, "
        "or add it there."
    )


@contextmanager
def node_named(config: RelationConfig) -> Iterator[None]:
    """Put the kind and name of a node in front of an error about its catalog; dbt names no node there."""
    try:
        yield
    except CompilationError as exc:
        kind = getattr(config, "resource_type", None) or "model"
        exc.msg = f"{kind} '{getattr(config, 'name', '')}': {exc.msg}"
        raise


def _is_version_2() -> bool:
    from dbt.flags import get_flags

    return bool(getattr(get_flags(), "USE_CATALOGS_V2", False))


def _malformed(exc: ValidationError) -> str:
    """Shortens dbt's own error, which prints the file's whole schema."""
    entry = exc.instance if isinstance(exc.instance, dict) else {}
    named = f"catalog {entry['name']!r}" if isinstance(entry.get("name"), str) else "an entry of `catalogs`"
    place = "".join(f", {part}" for part in exc.absolute_path)
    if {"type", "config"} & entry.keys():
        remedy = (
            "`type` and `config` are version 2 of the file, which dbt-core reads from 1.12 on with `flags: "
            "{use_catalogs_v2: true}` in dbt_project.yml; without it a catalog has `write_integrations`"
        )
    else:
        remedy = (
            "Write a list of catalogs, each with `name` and `write_integrations`, which is a list of `name` and "
            "`catalog_type`"
        )
    return f"catalogs.yml: {named}{place}: {exc.message.splitlines()[0][:200]}. {remedy}."


def _in_catalogs_yml(problem: str) -> str:
    for key, there in (("warehouse", "external_volume"), ("catalog_options", "adapter_properties")):
        if problem.startswith(f"{key}:"):
            return there + problem[len(key) :]
    return problem


def _integration(metastore: str) -> type[PaimonCatalogIntegration]:
    return type(
        f"{metastore.title()}CatalogIntegration", (PaimonCatalogIntegration,), {"catalog_type": metastore}
    )


CATALOG_INTEGRATIONS: Iterable[type[CatalogIntegration]] = tuple(map(_integration, METASTORES))
