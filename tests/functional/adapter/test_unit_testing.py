"""dbt's own suite: unit tests."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.unit_testing.test_case_insensitivity import BaseUnitTestCaseInsensivity
from dbt.tests.adapter.unit_testing.test_invalid_input import BaseUnitTestInvalidInput
from dbt.tests.adapter.unit_testing.test_quoted_reserved_word_column_names import (
    BaseUnitTestQuotedReservedWordColumnNames,
    my_upstream_model_with_reserved_word_column_name_sql,
)
from dbt.tests.adapter.unit_testing.test_types import (
    BaseUnitTestingTypes,
    BaseUnitTestingVarcharFixtureNoTruncation,
)
from tests.functional.adapter.postgres_sql import in_spark


class TestUnitTestCaseInsensivity(BaseUnitTestCaseInsensivity):
    pass


class TestUnitTestInvalidInput(BaseUnitTestInvalidInput):
    pass


class TestUnitTestingVarcharFixtureNoTruncation(BaseUnitTestingVarcharFixtureNoTruncation):
    pass


# Spark quotes names with backticks.
class TestUnitTestQuotedReservedWordColumnNames(BaseUnitTestQuotedReservedWordColumnNames):
    @pytest.fixture(scope="class")
    def models(self):
        base = BaseUnitTestQuotedReservedWordColumnNames.models.__wrapped__(self)
        sql = in_spark(my_upstream_model_with_reserved_word_column_name_sql)
        return base | {"my_upstream_model.sql": sql}


# Spark's casts and type names (TIMESTAMP_LTZ for TIMESTAMPTZ, JSON as text), and also arrays, maps and structs.
class TestUnitTestingTypes(BaseUnitTestingTypes):
    @pytest.fixture
    def data_types(self):
        json = '{"bar": "baz", "balance": 7.77, "active": false}'
        return [
            ["1", "1"],
            ["'1'", "1"],
            ["true", "true"],
            ["DATE '2020-01-02'", "2020-01-02"],
            ["TIMESTAMP '2013-11-03 00:00:00-0'", "2013-11-03 00:00:00-0"],
            ["TIMESTAMP_LTZ '2013-11-03 00:00:00-0'", "2013-11-03 00:00:00-0"],
            ["cast('1' as numeric)", "1"],
            [f"'{json}'", f"'{json}'"],
            ["array('a', 'b', 'c')", "['a', 'b', 'c']"],
            ["array(1, 2, 3)", "'array(1, 2, 3)'"],
            ["map('10', 't', '15', 'f', '20', null)", "{'10': t, '15': f, '20': null}"],
            ["named_struct('a', 1, 'b', 'x')", '\'named_struct("a", 1, "b", "x")\''],
        ]
