"""dbt's own suite: how dbt classifies the types of columns."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.column_types import fixtures
from dbt.tests.adapter.column_types.test_column_types import BasePostgresColumnTypes
from tests.functional.adapter.postgres_sql import in_spark


class TestColumnTypes(BasePostgresColumnTypes):
    # Spark's casts and type names.
    @pytest.fixture(scope="class")
    def models(self):
        return {"model.sql": in_spark(fixtures.model_sql), "schema.yml": fixtures.schema_yml}
