"""Reads `catalogs.yml`, which defines additional Paimon catalogs of a project.

Format: https://docs.getdbt.com/docs/mesh/iceberg/about-catalogs. `catalog_type` is the catalog's metastore,
`external_volume` its warehouse, `adapter_properties` its options. Version 2 (dbt-core 1.12, flag `use_catalogs_v2`) has
all of these in `config: {paimon: …}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.catalogs import CatalogIntegration, CatalogIntegrationConfig, InvalidCatalogIntegrationConfigError
from dbt.adapters.contracts.relation import RelationConfig
from dbt_common.dataclass_schema import ValidationError
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import METASTORES, SESSION_CATALOG, SparkCatalog, option_text
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.options.table_options import suggestion

if TYPE_CHECKING:
    from dbt.adapters.catalogs import CatalogV2

_TABLE_FORMAT = "paimon"
# Version 2's name for the adapter's own table format.
_V2_DEFAULT: Final = "default"
# Keys of a profile -> keys of catalogs.yml.
_NAMES: Final = {"warehouse": "external_volume", "catalog_options": "adapter_properties"}


@dataclass
class PaimonCatalogRelation:
    """The catalog of a model with a `catalog_name` (dbt's protocol CatalogRelation)."""

    catalog_name: str | None
    catalog_database: str
    table_format: str | None = _TABLE_FORMAT
    external_volume: str | None = None
    file_format: str | None = None


class PaimonCatalogIntegration(CatalogIntegration):
    """A catalog in `catalogs.yml`. Its name in Spark is the name of its write integration."""

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
        if listed := "".join(f"\n  - {problem}" for problem in _problems(config, target)):
            raise InvalidCatalogIntegrationConfigError(config.name, f"In catalogs.yml:{listed}")
        options = {name: option_text(value) for name, value in properties.items()}
        if self.file_format:
            options.setdefault("table-default.file.format", self.file_format)
        self.spark_catalog = SparkCatalog(
            self.catalog_name or "", self.catalog_type, config.external_volume, target["uri"], options
        )

    def build_relation(self, config: RelationConfig) -> PaimonCatalogRelation:
        """The catalog of a model with this `catalog_name`."""
        return PaimonCatalogRelation(
            self.name, self.spark_catalog.name, self.table_format, self.external_volume, self.file_format
        )


def of_project(
    config: Any, bridge: Callable[[CatalogV2], CatalogIntegrationConfig]
) -> Iterable[CatalogIntegrationConfig]:
    """The active write integrations in a project's catalogs.yml; `bridge` converts those of version 2.

    In `ls`, `docs generate`, `clone`, `run-operation` and `source freshness`, dbt-core does not pass them on.
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
            if active := core.get_active_write_integration(catalog):
                yield active
    except ValidationError as exc:
        raise DbtRuntimeError(_malformed(exc)) from None


def v2_table_format(catalog: CatalogV2) -> str:
    """The version 1 name of a version 2 catalog's table format."""
    written = str(catalog.table_format.value)
    return _TABLE_FORMAT if written == _V2_DEFAULT else written


def known(credentials: PaimonCredentials) -> frozenset[str]:
    """The Spark catalogs of the profile and catalogs.yml, and Spark's own."""
    ours = (catalog.name for catalog in credentials.spark_catalogs)
    views = credentials.view_catalog or SESSION_CATALOG
    return frozenset({*ours, *credentials.configured_catalogs, views, SESSION_CATALOG})


def unknown_catalog(name: str, credentials: PaimonCredentials) -> str:
    """The error for a node whose catalog Spark does not have."""
    others = sorted(known(credentials) - {SESSION_CATALOG})
    return (
        f"database {name!r}: Spark has no catalog of this name. The catalogs of this target: {', '.join(others)}. "
        f"{_hint(name, others)}"
        f"Omit `database` to build in {credentials.database}; what Paimon calls a database is dbt's `schema`. "
        "To add a catalog, define it in catalogs.yml and set `catalog_name` on the node."
    )


def unknown_integration(name: str, names: Iterable[str]) -> str:
    """The error for a `catalog_name` that is not in catalogs.yml."""
    defined = sorted(names)
    if not defined:
        return (
            f"catalog_name {name!r}: the project has no catalogs.yml that defines a catalog. Add this one there, or "
            "omit catalog_name to build in the profile's catalog."
        )
    return (
        f"catalog_name {name!r} is not in catalogs.yml, which has {', '.join(defined)}. {_hint(name, defined)}"
        "Use one of them, or add this one."
    )


def _hint(name: str, known: Iterable[str]) -> str:
    near = suggestion(name, known)
    return f"Did you mean {near}? " if near else ""


@contextmanager
def node_named(config: RelationConfig) -> Iterator[None]:
    """Prefix an error about a node's catalog with the node's kind and name, which dbt omits."""
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
    """dbt's error, without the JSON schema of the whole file."""
    entry = exc.instance if isinstance(exc.instance, dict) else {}
    named = f"catalog {entry['name']!r}" if isinstance(entry.get("name"), str) else "an entry of `catalogs`"
    place = "".join(f", {part}" for part in exc.absolute_path)
    if {"type", "config"} & entry.keys():
        remedy = (
            "`type` and `config` belong to version 2 of the file, which dbt-core reads from 1.12 on with `flags: "
            "{use_catalogs_v2: true}` in dbt_project.yml; in version 1 a catalog has `write_integrations`"
        )
    else:
        remedy = (
            "Write a list of catalogs, each with `name` and `write_integrations`, a list of entries with `name` and "
            "`catalog_type`"
        )
    return f"catalogs.yml: {named}{place}: {exc.message.splitlines()[0][:200]}. {remedy}."


def _problems(config: CatalogIntegrationConfig, target: Mapping[str, Any]) -> Iterator[str]:
    if config.catalog_name == SESSION_CATALOG:
        yield (
            "name: spark_catalog can only be the profile's own catalog (`catalog: spark_catalog`); give it another name"
        )
    yield from map(_in_catalogs_yml, PaimonCredentials.problems(target))
    if getattr(config, "catalog_database", None):
        yield "catalog_database: a Spark catalog has no level above its schemas; remove it"
    if config.table_format not in (None, _TABLE_FORMAT):
        yield (
            f"table_format: {config.table_format!r} is not supported; remove it, or write {_V2_DEFAULT} "
            "if use_catalogs_v2 is on"
        )


def _in_catalogs_yml(problem: str) -> str:
    key, colon, text = problem.partition(":")
    return _NAMES.get(key, key) + colon + text


def _integration(metastore: str) -> type[PaimonCatalogIntegration]:
    return type(f"{metastore.title()}CatalogIntegration", (PaimonCatalogIntegration,), {"catalog_type": metastore})


CATALOG_INTEGRATIONS: Iterable[type[CatalogIntegration]] = tuple(map(_integration, METASTORES))
