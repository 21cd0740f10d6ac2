"""dbt's own suite: functions, which Spark 3.5 cannot create in SQL (config/test_unsupported.py has the message)."""

from __future__ import annotations

import pytest
from dbt.exceptions import ParsingError
from dbt.tests.adapter.functions import files
from dbt.tests.adapter.functions.test_js_udfs import (
    BasicJSAggregateUDF,
    BasicJSUDF,
    JSAggregateUDFVolatilityIgnored,
    JSUDFDefaultArgSupport,
    JSUDFDeterministicVolatility,
    JSUDFMultiLineBody,
    JSUDFNonDeterministicVolatility,
    JSUDFStableVolatilityWarns,
)
from dbt.tests.adapter.functions.test_udafs import BasicPythonUDAF, BasicSQLUDAF, PythonUDAFDefaultArgSupport
from dbt.tests.adapter.functions.test_udfs import (
    CanFindScalarFunctionRelation,
    DeterministicUDF,
    ErrorForUnsupportedType,
    NonDeterministicUDF,
    PythonUDFDefaultArgSupport,
    PythonUDFEntryPointRequired,
    PythonUDFNotSupported,
    PythonUDFRuntimeVersionRequired,
    PythonUDFSupported,
    PythonUDFVolatilitySupport,
    PythonUDFWithPackagesSupported,
    SqlUDFDefaultArgSupport,
    StableUDF,
    UDFsBasic,
)

no_functions = pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="Spark 3.5 has no CREATE FUNCTION … RETURN: `dbt exit state did not match expected`",
)

no_javascript = pytest.mark.xfail(
    strict=True,
    raises=ParsingError,
    reason="dbt-core has JavaScript for two adapters: `uses JavaScript, which is not supported on 'paimon'`",
)

YAML_OF_PRICE = files.MY_UDF_YML
YAML_OF_MASK = """
functions:
  - name: mask_pii
    arguments: [{name: value, data_type: string}]
    returns: {data_type: string}
"""
YAML_OF_SUM = """
functions:
  - name: sum_positive
    config: {type: aggregate}
    arguments: [{name: x, data_type: double}]
    returns: {data_type: double}
"""


class PriceInJavaScript:
    @pytest.fixture(scope="class")
    def functions(self):
        return {"price_for_xlarge.js": files.MY_JS_UDF, "price_for_xlarge.yml": YAML_OF_PRICE}


class SumInJavaScript:
    @pytest.fixture(scope="class")
    def functions(self):
        return {"sum_positive.js": files.SUM_POSITIVE_JS, "sum_positive.yml": YAML_OF_SUM}


@no_functions
class TestCanFindScalarFunctionRelation(CanFindScalarFunctionRelation):
    pass


@no_functions
class TestDeterministicUDF(DeterministicUDF):
    pass


class TestErrorForUnsupportedType(ErrorForUnsupportedType):
    pass


@no_functions
class TestNonDeterministicUDF(NonDeterministicUDF):
    pass


@no_functions
class TestPythonUDFDefaultArgSupport(PythonUDFDefaultArgSupport):
    pass


class TestPythonUDFEntryPointRequired(PythonUDFEntryPointRequired):
    pass


class TestPythonUDFNotSupported(PythonUDFNotSupported):
    pass


class TestPythonUDFRuntimeVersionRequired(PythonUDFRuntimeVersionRequired):
    pass


@no_functions
class TestPythonUDFSupported(PythonUDFSupported):
    pass


@no_functions
class TestPythonUDFVolatilitySupport(PythonUDFVolatilitySupport):
    pass


@no_functions
class TestPythonUDFWithPackagesSupported(PythonUDFWithPackagesSupported):
    pass


@no_functions
class TestSqlUDFDefaultArgSupport(SqlUDFDefaultArgSupport):
    pass


@no_functions
class TestStableUDF(StableUDF):
    pass


@no_functions
class TestUDFsBasic(UDFsBasic):
    pass


@no_functions
class TestBasicPythonUDAF(BasicPythonUDAF):
    pass


@no_functions
class TestBasicSQLUDAF(BasicSQLUDAF):
    pass


@no_functions
class TestPythonUDAFDefaultArgSupport(PythonUDAFDefaultArgSupport):
    pass


@no_javascript
class TestBasicJSAggregateUDF(SumInJavaScript, BasicJSAggregateUDF):
    pass


@no_javascript
class TestBasicJSUDF(PriceInJavaScript, BasicJSUDF):
    pass


@no_javascript
class TestJSAggregateUDFVolatilityIgnored(SumInJavaScript, JSAggregateUDFVolatilityIgnored):
    pass


@no_javascript
class TestJSUDFDefaultArgSupport(PriceInJavaScript, JSUDFDefaultArgSupport):
    pass


@no_javascript
class TestJSUDFDeterministicVolatility(PriceInJavaScript, JSUDFDeterministicVolatility):
    pass


@no_javascript
class TestJSUDFMultiLineBody(JSUDFMultiLineBody):
    @pytest.fixture(scope="class")
    def functions(self):
        return {"mask_pii.js": files.MASK_PII_JS, "mask_pii.yml": YAML_OF_MASK}


@no_javascript
class TestJSUDFNonDeterministicVolatility(PriceInJavaScript, JSUDFNonDeterministicVolatility):
    pass


@no_javascript
class TestJSUDFStableVolatilityWarns(PriceInJavaScript, JSUDFStableVolatilityWarns):
    pass
