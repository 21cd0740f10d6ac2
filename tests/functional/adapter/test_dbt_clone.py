"""dbt's own suite: `dbt clone`."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.dbt_clone.test_dbt_clone import (
    BaseCloneNotPossible,
    BaseClonePossible,
    BaseCloneSameSourceAndTarget,
    BaseCloneSameTargetAndState,
)


class DropsOtherSchemas:
    """The base classes do not drop the schemas of their seeds and clones."""

    @pytest.fixture(autouse=True)
    def _clean_up(self, project, other_schema):
        yield
        with project.adapter.connection_named("__test"):
            for schema in (f"{project.test_schema}_seeds", other_schema):
                relation = project.adapter.Relation.create(database=project.database, schema=schema)
                project.adapter.drop_schema(relation)


class TestClonePossible(DropsOtherSchemas, BaseClonePossible):
    pass


class TestCloneNotPossible(DropsOtherSchemas, BaseCloneNotPossible):
    pass


class TestCloneSameSourceAndTarget(BaseCloneSameSourceAndTarget):
    pass


class TestCloneSameTargetAndState(BaseCloneSameTargetAndState):
    pass
