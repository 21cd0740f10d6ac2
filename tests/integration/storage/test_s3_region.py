"""Requests to a bucket are signed for the region in the profile, or else for the default region."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.s3 import REGION, S3
from integration.storage.conftest import Warehouse, on_s3


class TestRegion:
    @pytest.fixture(scope="class", params=[None, "eu-central-1"])
    def region(self, request: pytest.FixtureRequest) -> str | None:
        return request.param

    @pytest.fixture(scope="class")
    def folder(self, region: str | None) -> str:
        return f"in-{region or 'no-region'}"

    @pytest.fixture(scope="class")
    def storage(self, object_store: S3, folder: str, region: str | None) -> Warehouse:
        named = {"s3.endpoint.region": region} if region else {}
        return on_s3(object_store, folder, catalog_options=object_store.catalog_options() | named)

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"placed.sql": "{{ config(materialized='table') }} select id from range(3)"}

    def test_requests_are_signed_for_it(
        self,
        project: Any,
        rows: Callable[[str], list[tuple[Any, ...]]],
        storage: Warehouse,
        object_store: S3,
        folder: str,
        region: str | None,
    ) -> None:
        run_dbt(["run"])
        assert sorted(rows("select id from {schema}.placed")) == [(0,), (1,), (2,)]
        assert any("/data-" in name for name in storage.files(f"{project.test_schema}.db/placed"))
        assert object_store.regions(folder)["aws-sdk-java"] == {region or REGION}
        # These are the adapter's own requests, for its leases.
        assert object_store.regions(f"{folder}/.dbt_paimon") == {"Botocore": {region or REGION}}
