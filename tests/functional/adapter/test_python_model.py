"""dbt's own suite: Python models."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.python_model import test_spark
from dbt.tests.adapter.python_model.test_python_model import (
    BasePythonEmptyTests,
    BasePythonIncrementalTests,
    BasePythonMetaGetTests,
    BasePythonModelTests,
    BasePythonSampleTests,
)
from dbt.tests.adapter.python_model.test_spark import BasePySparkTests
from dbt.tests.util import run_dbt


class TestPythonEmptyTests(BasePythonEmptyTests):
    pass


class TestPythonIncrementalTests(BasePythonIncrementalTests):
    pass


class TestPythonMetaGetTests(BasePythonMetaGetTests):
    pass


class TestPythonModelTests(BasePythonModelTests):
    pass


class TestPythonSampleTests(BasePythonSampleTests):
    pass


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="its fourth model imports Koalas, which ended before Spark 3.5: No module named 'databricks' (its other three "
    "models are in TestPySparkWithoutKoalas)",
)
class TestPySpark(BasePySparkTests):
    pass


MODELS = {
    "pandas_df.py": test_spark.PANDAS_MODEL,
    "pyspark_df.py": test_spark.PYSPARK_MODEL,
    "pandas_on_spark_df.py": test_spark.PANDAS_ON_SPARK_MODEL,
}


class TestPySparkWithoutKoalas:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    def test_different_dataframes(self, project):
        results = run_dbt(["run"])
        assert {result.node.name: result.status for result in results} == dict.fromkeys(
            ("pandas_df", "pyspark_df", "pandas_on_spark_df"), "success"
        )
        for name in ("pandas_df", "pyspark_df", "pandas_on_spark_df"):
            (count,) = project.run_sql(f"select count(*) from {project.test_schema}.{name}", fetch="one")
            assert count == 5
