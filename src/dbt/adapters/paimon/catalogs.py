"""`catalogs.yml`: further Paimon catalogs of a project, beside the one of the profile.

Source: https://docs.getdbt.com/docs/mesh/iceberg/about-catalogs for the file's layout. Here `catalog_type` is Paimon's
metastore, `external_volume` its warehouse, and `adapter_properties` holds `uri` and any other option of the catalog.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dbt.adapters.catalogs import (
    CatalogIntegration,
    CatalogIntegrationConfig,
    InvalidCatalogIntegrationConfigError,
)
from dbt.adapters.contracts.relation import RelationConfig

from dbt.adapters.paimon.credentials import (
    METASTORES,
    SESSION_CATALOG,
    SparkCatalog,
    option_text,
    profile_problems,
)

_TABLE_FORMAT = "paimon"


@dataclass
class PaimonCatalogRelation:
    """Where a model with a `catalog_name` lands; dbt's protocol CatalogRelation."""

    catalog_name: str | None
    catalog_database: str
    table_format: str | None = _TABLE_FORMAT
    external_volume: str | None = None
    file_format: str | None = None


class PaimonCatalogIntegration(CatalogIntegration):
    """A catalog of `catalogs.yml`; Spark knows it by the name of its write integration.

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
        if config.table_format not in (None, _TABLE_FORMAT):
            problems.append(f"table_format: {config.table_format!r} is not written here; leave it out")
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
        """The Spark catalog, as dbt's `database`, that a model of this catalog is built in."""
        return PaimonCatalogRelation(
            self.name, self.spark_catalog.name, self.table_format, self.external_volume, self.file_format
        )


def of_project(config: Any) -> Iterable[CatalogIntegrationConfig]:
    """The active write integrations of a project's catalogs.yml.

    dbt-core hands them over for some commands only (not for `dbt ls`, `docs generate`, `clone`, `run-operation`,
    `source freshness`), and the others would not know where a model is.

    Args:
        config: dbt's RuntimeConfig; one without a project (`dbt debug`) has no catalogs.

    Raises:
        DbtValidationError: what dbt finds wrong with the file.
    """
    root = getattr(config, "project_root", None)
    if not root:
        return
    from dbt.config.catalogs import get_active_write_integration, load_catalogs

    for catalog in load_catalogs(root, config.project_name, config.cli_vars):
        active = get_active_write_integration(catalog)
        if active is not None:
            yield active


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
