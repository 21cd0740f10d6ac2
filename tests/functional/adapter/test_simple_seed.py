"""dbt's own suite: seeds."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.tests.adapter.simple_seed import fixtures, seeds, test_seed
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSeedParsing,
    BaseSeedSpecificFormats,
    BaseSeedWithEmptyDelimiter,
    BaseSeedWithUniqueDelimiter,
    BaseSeedWithWrongDelimiter,
    BaseSimpleSeedEnabledViaConfig,
    BaseSimpleSeedWithBOM,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride
from tests.functional.adapter.postgres_sql import in_spark


class ViewsStay:
    # Spark's DROP TABLE has no CASCADE, and a seed is replaced in place, so a view on the seed always remains.
    def _check_relation_end_state(self, run_result, project, exists):
        super()._check_relation_end_state(run_result, project, exists=True)


class ExpectedInSpark:
    # Spark's type names and identifier quotes in the table of expected rows.
    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project):
        project.run_sql(in_spark(seeds.seeds__expected_sql))


class TestBasicSeedTests(ViewsStay, ExpectedInSpark, BaseBasicSeedTests):
    pass


class TestSeedConfigFullRefreshOn(ViewsStay, ExpectedInSpark, BaseSeedConfigFullRefreshOn):
    pass


class TestSeedConfigFullRefreshOff(ExpectedInSpark, BaseSeedConfigFullRefreshOff):
    pass


class TestSeedCustomSchema(ExpectedInSpark, BaseSeedCustomSchema):
    pass


class TestSeedWithUniqueDelimiter(ExpectedInSpark, BaseSeedWithUniqueDelimiter):
    pass


class TestSeedWithWrongDelimiter(ExpectedInSpark, BaseSeedWithWrongDelimiter):
    pass


class TestSeedWithEmptyDelimiter(ExpectedInSpark, BaseSeedWithEmptyDelimiter):
    pass


class TestSimpleSeedEnabledViaConfig(BaseSimpleSeedEnabledViaConfig):
    pass


class TestSeedParsing(ExpectedInSpark, BaseSeedParsing):
    pass


class TestSimpleSeedWithBOM(BaseSimpleSeedWithBOM):
    # Like ExpectedInSpark; also copies the CSV file from the suite's folder, because the base reads this folder.
    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project):
        project.run_sql(in_spark(seeds.seeds__expected_sql))
        file = "seed_bom.csv"
        suite = Path(test_seed.__file__).parent
        Path(project.project_root, "seeds", file).write_bytes((suite / file).read_bytes())


class TestSeedSpecificFormats(BaseSeedSpecificFormats):
    pass


class TestEmptySeed(BaseTestEmptySeed):
    pass


class TestSimpleSeedColumnOverride(BaseSimpleSeedColumnOverride):
    # Spark's type names; integers in a seed become BIGINT.
    @pytest.fixture(scope="class")
    def models(self):
        return {"schema.yml": in_spark(fixtures.properties__schema_yml).replace("integer", "bigint")}

    @staticmethod
    def seed_enabled_types():
        types = BaseSimpleSeedColumnOverride.seed_enabled_types()
        return {name: in_spark(kind) for name, kind in types.items()}

    @staticmethod
    def seed_tricky_types():
        types = BaseSimpleSeedColumnOverride.seed_tricky_types()
        return {name: in_spark(kind) for name, kind in types.items()}
