"""dbt's own suite: models that copy a seed."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.simple_copy.test_copy_uppercase import BaseSimpleCopyUppercase
from dbt.tests.adapter.simple_copy.test_simple_copy import EmptyModelsArentRunBase, SimpleCopyBase
from dbt.tests.util import get_connection
from pyspark.errors import ParseException, UnsupportedOperationException


class TestSimpleCopy(SimpleCopyBase):
    @pytest.mark.xfail(
        strict=True,
        raises=(ParseException, UnsupportedOperationException),
        reason="Spark has no materialized views: [PARSE_SYNTAX_ERROR] Syntax error at or near 'materialized'; from 4.1 "
        "on only in a pipeline: [UNSUPPORTED_FEATURE.CREATE_PIPELINE_DATASET_QUERY_EXECUTION]",
    )
    def test_simple_copy_with_materialized_views(self, project):
        super().test_simple_copy_with_materialized_views(project)


class TestSimpleCopyUppercase(BaseSimpleCopyUppercase):
    # The base's own target is a PostgreSQL server.
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return dbt_profile_target


class TestEmptyModelsArentRun(EmptyModelsArentRunBase):
    # Spark has no information_schema, so the adapter lists the relations.
    @pytest.fixture(scope="class")
    def project(self, project):
        def tables_in_schema():
            schema = project.adapter.Relation.create(project.database, project.test_schema)
            with get_connection(project.adapter):
                listed = project.adapter.list_relations_without_caching(schema)
            return {relation.identifier: relation.type for relation in listed}

        project.get_tables_in_schema = tables_in_schema
        return project
