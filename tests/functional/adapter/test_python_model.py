"""dbt's own suite: Python models."""

from __future__ import annotations

from dbt.tests.adapter.python_model.test_python_model import (
    BasePythonEmptyTests,
    BasePythonIncrementalTests,
    BasePythonMetaGetTests,
    BasePythonModelTests,
    BasePythonSampleTests,
)


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
