"""dbt's own suite: aliases."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.aliases import fixtures
from dbt.tests.adapter.aliases.test_aliases import (
    BaseAliasErrors,
    BaseAliases,
    BaseSameAliasDifferentDatabases,
    BaseSameAliasDifferentSchemas,
)


class SparkCast:
    # Spark has no `::` and no type `text`.
    @pytest.fixture(scope="class")
    def macros(self):
        return {
            "cast.sql": fixtures.MACROS__CAST_SQL.replace("'{{ s }}'::text", "cast('{{ s }}' as string)"),
            "expect_value.sql": fixtures.MACROS__EXPECT_VALUE_SQL,
        }


class TestAliases(SparkCast, BaseAliases):
    pass


class TestAliasErrors(SparkCast, BaseAliasErrors):
    pass


class TestSameAliasDifferentSchemas(SparkCast, BaseSameAliasDifferentSchemas):
    pass


class TestSameAliasDifferentDatabases(SparkCast, BaseSameAliasDifferentDatabases):
    pass
