"""A clone of a table with Iceberg metadata has the original's Iceberg options."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.paimon.capabilities import Capability
from functional.clone.test_clone import TwoSchemas


@pytest.mark.needs(Capability.ICEBERG_METADATA)
class TestClone(TwoSchemas):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"orders.sql": "{{ config(materialized='table', iceberg=true) }} select 1 as id"}

    def test_options(self, project: Any, rows: Any, other_schema: str) -> None:
        self.clone()
        option = "select value from paimon.{}.`orders$options` where key like 'metadata.iceberg.%' order by key"
        original, clone = (rows(option.format(schema)) for schema in (project.test_schema, other_schema))
        assert original == clone != []
