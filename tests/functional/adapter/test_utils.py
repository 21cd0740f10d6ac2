"""dbt's own suite: cross-database macros."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.utils.base_array_utils import BaseArrayUtils
from dbt.tests.adapter.utils.base_utils import BaseUtils
from dbt.tests.adapter.utils.data_types.base_data_type_macro import BaseDataTypeMacro
from dbt.tests.adapter.utils.data_types.test_type_bigint import BaseTypeBigInt
from dbt.tests.adapter.utils.data_types.test_type_boolean import BaseTypeBoolean
from dbt.tests.adapter.utils.data_types.test_type_float import BaseTypeFloat
from dbt.tests.adapter.utils.data_types.test_type_int import BaseTypeInt
from dbt.tests.adapter.utils.data_types.test_type_numeric import BaseTypeNumeric
from dbt.tests.adapter.utils.data_types.test_type_string import BaseTypeString
from dbt.tests.adapter.utils.data_types.test_type_timestamp import BaseTypeTimestamp
from dbt.tests.adapter.utils.fixture_get_intervals_between import (
    models__test_get_intervals_between_sql,
    models__test_get_intervals_between_yml,
)
from dbt.tests.adapter.utils.test_any_value import BaseAnyValue
from dbt.tests.adapter.utils.test_array_append import BaseArrayAppend
from dbt.tests.adapter.utils.test_array_concat import BaseArrayConcat
from dbt.tests.adapter.utils.test_array_construct import BaseArrayConstruct
from dbt.tests.adapter.utils.test_bool_or import BaseBoolOr
from dbt.tests.adapter.utils.test_cast import BaseCast
from dbt.tests.adapter.utils.test_cast_bool_to_text import BaseCastBoolToText
from dbt.tests.adapter.utils.test_concat import BaseConcat
from dbt.tests.adapter.utils.test_current_timestamp import (
    BaseCurrentTimestampAware,
    BaseCurrentTimestampNaive,
)
from dbt.tests.adapter.utils.test_date import BaseDate
from dbt.tests.adapter.utils.test_date_spine import BaseDateSpine
from dbt.tests.adapter.utils.test_date_trunc import BaseDateTrunc
from dbt.tests.adapter.utils.test_dateadd import BaseDateAdd
from dbt.tests.adapter.utils.test_datediff import BaseDateDiff
from dbt.tests.adapter.utils.test_equals import BaseEquals
from dbt.tests.adapter.utils.test_escape_single_quotes import (
    BaseEscapeSingleQuotesBackslash,
    BaseEscapeSingleQuotesQuote,
)
from dbt.tests.adapter.utils.test_except import BaseExcept
from dbt.tests.adapter.utils.test_generate_series import BaseGenerateSeries
from dbt.tests.adapter.utils.test_get_intervals_between import BaseGetIntervalsBetween
from dbt.tests.adapter.utils.test_get_powers_of_two import BaseGetPowersOfTwo
from dbt.tests.adapter.utils.test_hash import BaseHash
from dbt.tests.adapter.utils.test_intersect import BaseIntersect
from dbt.tests.adapter.utils.test_last_day import BaseLastDay
from dbt.tests.adapter.utils.test_length import BaseLength
from dbt.tests.adapter.utils.test_listagg import BaseListagg
from dbt.tests.adapter.utils.test_null_compare import BaseMixedNullCompare, BaseNullCompare
from dbt.tests.adapter.utils.test_position import BasePosition
from dbt.tests.adapter.utils.test_replace import BaseReplace
from dbt.tests.adapter.utils.test_right import BaseRight
from dbt.tests.adapter.utils.test_safe_cast import BaseSafeCast
from dbt.tests.adapter.utils.test_source_freshness_custom_info import BaseCalculateFreshnessMethod
from dbt.tests.adapter.utils.test_split_part import BaseSplitPart
from dbt.tests.adapter.utils.test_string_literal import BaseStringLiteral
from dbt.tests.adapter.utils.test_timestamps import BaseCurrentTimestamps
from dbt.tests.adapter.utils.test_validate_sql import BaseValidateSqlMethod

from functional.conftest import VERSIONS


class TestTypeBigInt(BaseTypeBigInt):
    pass


class TestTypeBoolean(BaseTypeBoolean):
    pass


class TestTypeNumeric(BaseTypeNumeric):
    pass


class TestTypeString(BaseTypeString):
    pass


class TestTypeTimestamp(BaseTypeTimestamp):
    pass


class TestArrayAppend(BaseArrayAppend):
    pass


class TestArrayConcat(BaseArrayConcat):
    pass


class TestArrayConstruct(BaseArrayConstruct):
    pass


class TestCurrentTimestampNaive(BaseCurrentTimestampNaive):
    pass


class TestEquals(BaseEquals):
    pass


class TestExcept(BaseExcept):
    pass


class TestIntersect(BaseIntersect):
    pass


class TestMixedNullCompare(BaseMixedNullCompare):
    pass


class TestCalculateFreshnessMethod(BaseCalculateFreshnessMethod):
    pass


class TestValidateSqlMethod(BaseValidateSqlMethod):
    pass


# The base leaves both models to subclasses. Here: the array macros on text, and on arrays of arrays.
class TestArrayUtils(BaseArrayUtils):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "actual.sql": "select {{ array_append(array_construct([\"'a'\"]), \"'b'\") }} as words,"
            " {{ array_concat(array_construct(['array(1)']), array_construct(['array(2, 3)'])) }} as nested",
            "expected.sql": "select array('a', 'b') as words, array(array(1), array(2, 3)) as nested",
        }


# The base leaves both models to subclasses. Here: every type macro in one table.
class TestDataTypeMacro(BaseDataTypeMacro):
    @pytest.fixture(scope="class")
    def models(self):
        types = {
            "bigint": "bigint",
            "boolean": "boolean",
            "float": "float",
            "int": "int",
            "numeric": "decimal(28,6)",
            "string": "string",
            "timestamp": "timestamp",
        }
        macros = {name: f"{{{{ type_{name}() }}}}" for name in types}
        return {
            f"{model}.sql": "{{ config(materialized='table') }} select "
            + ", ".join(f"cast(null as {kind}) as a_{name}" for name, kind in kinds.items())
            for model, kinds in (("expected", types), ("actual", macros))
        }


# By default, a decimal number in a seed is a DOUBLE, but type_float() is FLOAT.
class TestTypeFloat(BaseTypeFloat):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+column_types": {"float_col": "float"}}}


# By default, an integer in a seed is a BIGINT, but type_int() is INT.
class TestTypeInt(BaseTypeInt):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+column_types": {"int_col": "int"}}}


class TestCurrentTimestampAware(BaseCurrentTimestampAware):
    @pytest.mark.xfail(
        strict=True,
        raises=AssertionError,
        reason="Spark's TIMESTAMP is an instant without a time zone of its own: assert is_aware(…)",
    )
    def test_current_timestamp_type(self, current_timestamp):
        super().test_current_timestamp_type(current_timestamp)


# Spark's types and functions.
class TestCurrentTimestamps(BaseCurrentTimestamps):
    @pytest.fixture(scope="class")
    def expected_schema(self):
        return {
            "current_timestamp": "timestamp",
            "current_timestamp_in_utc_backcompat": "timestamp",
            "current_timestamp_backcompat": "timestamp",
        }

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return """
            select now() as current_timestamp,
                   to_utc_timestamp(now(), current_timezone()) as current_timestamp_in_utc_backcompat,
                   now() as current_timestamp_backcompat
        """


@pytest.mark.xfail(
    VERSIONS.spark.major < 4,
    strict=True,
    raises=AssertionError,
    reason="Spark 3.5 reads 'they''re' as two literals put together: theyre. Its escape is the backslash "
    "(BaseEscapeSingleQuotesBackslash)",
)
class TestEscapeSingleQuotesQuote(BaseEscapeSingleQuotesQuote):
    pass


# Spark only reads dates in ISO 8601.
class GetIntervalsBetween(BaseGetIntervalsBetween):
    @pytest.fixture(scope="class")
    def models(self):
        sql = models__test_get_intervals_between_sql
        for day in ("01", "12"):
            sql = sql.replace(f"'09/{day}/2023'", f"'2023-09-{day}'")
        return {
            "test_get_intervals_between.yml": models__test_get_intervals_between_yml,
            "test_get_intervals_between.sql": self.interpolate_macro_namespace(sql, "get_intervals_between"),
        }


# Each of these bases builds a project whose seeds, models and tests have to pass. Here they share one project.
class TestMacros(
    GetIntervalsBetween,
    BaseAnyValue,
    BaseBoolOr,
    BaseCast,
    BaseCastBoolToText,
    BaseConcat,
    BaseDate,
    BaseDateSpine,
    BaseDateTrunc,
    BaseDateAdd,
    BaseDateDiff,
    BaseEscapeSingleQuotesBackslash,
    BaseGenerateSeries,
    BaseGetPowersOfTwo,
    BaseHash,
    BaseLastDay,
    BaseLength,
    BaseListagg,
    BaseNullCompare,
    BasePosition,
    BaseReplace,
    BaseRight,
    BaseSafeCast,
    BaseSplitPart,
    BaseStringLiteral,
):
    def _of_all(self, kind):
        found = {}
        for base in TestMacros.__bases__:
            assert base.test_build_assert_equal is BaseUtils.test_build_assert_equal
            if files := getattr(base, kind, None):
                new = files.__wrapped__(self)
                assert not found.keys() & new.keys(), base
                found |= new
        return found

    @pytest.fixture(scope="class")
    def models(self):
        return self._of_all("models")

    @pytest.fixture(scope="class")
    def seeds(self):
        return self._of_all("seeds")
