"""catalogs.yml in its version 2 layout becomes Spark catalogs; its mistakes and unknown names are refused."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.capability import Capability
from dbt.adapters.catalogs import CatalogIntegration, InvalidCatalogIntegrationConfigError
from dbt.adapters.catalogs._client import CatalogIntegrationClient
from dbt.config import catalogs as core_catalogs
from dbt_common.exceptions import CompilationError, DbtBaseException

from dbt.adapters.paimon import catalogs_yml
from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.impl import PaimonAdapter


def integration(folder: Path, **catalog: Any) -> CatalogIntegration:
    """The integration of a catalog in the version 2 layout."""
    entry = {"name": "archive", "table_format": "default", **catalog}
    (folder / "catalogs.yml").write_text(yaml.safe_dump({"catalogs": [entry]}))
    project = Namespace(project_root=str(folder), project_name="p", cli_vars={})
    (config,) = catalogs_yml.of_project(project, object.__new__(PaimonAdapter).bridge_v2_catalog)
    return CatalogIntegrationClient(catalogs_yml.CATALOG_INTEGRATIONS).add(config)


@pytest.fixture
def version_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogs_yml, "_is_version_2", lambda: True)


@pytest.mark.skipif(not hasattr(core_catalogs, "load_catalogs_v2"), reason="version 2 needs dbt-core 1.12")
@pytest.mark.usefixtures("version_2")
class TestVersion2:
    def test_the_adapter_declares_the_capability(self) -> None:
        assert PaimonAdapter.supports(Capability.CatalogsV2)

    def test_a_hive_catalog(self, tmp_path: Path) -> None:
        options = {"external_volume": "s3://b/archive", "uri": "thrift://h:9083", "lock.enabled": True}
        found = integration(tmp_path, type="hive", config={"paimon": {**options, "file_format": "orc"}})
        assert found.spark_catalog == SparkCatalog(  # type: ignore[attr-defined]
            "archive",
            "hive",
            "s3://b/archive",
            "thrift://h:9083",
            {"lock.enabled": "true", "table-default.file.format": "orc"},
        )

    @pytest.mark.parametrize(
        ("catalog", "said"),
        [
            ({"config": {"paimon": {}}}, "external_volume: missing"),
            ({"config": {"snowflake": {"external_volume": "/x"}}}, "external_volume: missing"),
            ({"table_format": "iceberg", "config": {"paimon": {"external_volume": "/x"}}}, "write default"),
            (
                {"config": {"paimon": {"external_volume": "/x", "catalog_database": "d"}}},
                "catalog_database: ",
            ),
        ],
    )
    def test_refused(self, tmp_path: Path, catalog: dict[str, Any], said: str) -> None:
        with pytest.raises(InvalidCatalogIntegrationConfigError, match=said):
            integration(tmp_path, type="filesystem", **catalog)

    def test_a_key_of_version_1_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DbtBaseException, match=r"Unknown keys in catalog entry: \['write_integrations'\]"):
            integration(tmp_path, type="filesystem", config={}, write_integrations=[])


def test_no_catalogs_yml() -> None:
    message = catalogs_yml.unknown_integration("archive", [])
    assert "has no catalogs.yml" in message and "omit catalog_name" in message


def test_known_catalogs() -> None:
    credentials = PaimonCredentials(
        schema="x",
        warehouse="/lake",
        view_catalog="hive_views",
        spark_config={
            "spark.sql.catalog.ice": "org.apache.iceberg.Catalog",
            "spark.sql.catalog.ice.type": "hadoop",
        },
    )
    assert catalogs_yml.known(credentials) == {"paimon", "hive_views", "ice", "spark_catalog"}


def test_an_unknown_catalog_is_refused_with_the_known_names() -> None:
    adapter = object.__new__(PaimonAdapter)
    adapter._catalog_client = CatalogIntegrationClient(())
    adapter._catalog_names = ["archive", "cold"]
    with pytest.raises(
        CompilationError, match=r"'archve' is not in catalogs\.yml.*archive, cold.*Did you mean archive"
    ):
        adapter.get_catalog_integration("archve")
