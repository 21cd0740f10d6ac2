"""dbt's own suite: the basics every adapter has."""

from __future__ import annotations

import getpass

import pytest
from dbt.tests.adapter.basic import expected_catalog
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_get_catalog_for_single_relation import BaseGetCatalogForSingleRelation
from dbt.tests.adapter.basic.test_incremental import (
    BaseIncremental,
    BaseIncrementalBadStrategy,
    BaseIncrementalNotSchemaChange,
)
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.util import AnyInteger, AnyStringWith
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata


class TestAdapterMethod(BaseAdapterMethod):
    pass


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


def _statistics():
    """The statistics that this adapter shows for every table; the base classes leave them to the adapter."""

    def stat(key, label, value, description):
        return {"id": key, "label": label, "value": value, "description": description, "include": True}

    files = "Data files of the newest table snapshot"
    return {
        "has_stats": expected_catalog.no_stats()["has_stats"] | {"value": True},
        "rows": stat(
            "rows",
            "# Rows",
            AnyInteger(),
            "Rows in the data files of the newest table snapshot, before merging",
        ),
        "bytes": stat("bytes", "Size", AnyInteger(), "Bytes in the data files of the newest table snapshot"),
        "files": stat("files", "# Files", AnyInteger(), files),
        "last_modified": stat(
            "last_modified",
            "Last commit",
            AnyStringWith("20"),
            "When the newest table snapshot was committed (UTC)",
        ),
    }


# Spark's types, and the owner, which Spark records for each table.
_SPARK = {
    "role": getpass.getuser(),
    "text_type": "string",
    "time_type": "timestamp",
    "view_type": "view",
    "table_type": "table",
}


def _views_without_owner(expected):
    """The expected catalog, without owners for views: a view's stored definition has none."""
    for node in expected["nodes"].values():
        if node["metadata"]["type"] == "view":
            node["metadata"]["owner"] = None
    return expected


class TestDocsGenerate(BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project):
        return _views_without_owner(
            expected_catalog.base_expected_catalog(
                project,
                id_type="bigint",
                model_stats=expected_catalog.no_stats(),
                seed_stats=_statistics(),
                **_SPARK,
            )
        )


class TestDocsGenReferences(BaseDocsGenReferences):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project):
        return _views_without_owner(
            expected_catalog.expected_references_catalog(
                project,
                id_type="bigint",
                bigint_type="bigint",
                model_stats=_statistics(),
                view_summary_stats=expected_catalog.no_stats(),
                **_SPARK,
            )
        )


class TestGetCatalogForSingleRelation(BaseGetCatalogForSingleRelation):
    @pytest.fixture(scope="class")
    def expected_catalog_my_seed(self, project):
        return self._expected(project, "my_seed", "table", {k: StatsItem(**v) for k, v in _statistics().items()})

    @pytest.fixture(scope="class")
    def expected_catalog_my_view_model(self, project):
        no_stats = {key: StatsItem(**value) for key, value in expected_catalog.no_stats().items()}
        return self._expected(project, "my_view_model", "view", no_stats)

    def _expected(self, project, name, kind, stats):
        types = {
            "id": "bigint",
            "first_name": "string",
            "email": "string",
            "ip_address": "string",
            "updated_at": "timestamp",
        }
        return CatalogTable(
            metadata=TableMetadata(
                type=kind,
                schema=project.test_schema,
                name=name,
                database=project.database,
                owner=getpass.getuser() if kind == "table" else None,
            ),
            columns={
                column: ColumnMetadata(type=data_type, index=index, name=column)
                for index, (column, data_type) in enumerate(types.items(), start=1)
            },
            stats=stats,
        )


class TestEmpty(BaseEmpty):
    pass


class TestEphemeral(BaseEphemeral):
    pass


class TestGenericTests(BaseGenericTests):
    pass


class TestIncremental(BaseIncremental):
    pass


class TestIncrementalBadStrategy(BaseIncrementalBadStrategy):
    pass


class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange):
    pass


class TestSingularTests(BaseSingularTests):
    pass


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    pass


class TestSnapshotCheckCols(BaseSnapshotCheckCols):
    pass


class TestSnapshotTimestamp(BaseSnapshotTimestamp):
    pass


class TestTableMaterialization(BaseTableMaterialization):
    pass


class TestValidateConnection(BaseValidateConnection):
    pass
