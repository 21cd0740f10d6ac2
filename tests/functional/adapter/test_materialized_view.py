"""dbt's own suite: materialized views, which Paimon leaves to Flink (what a model of one is told: config/test_unsupported.py)."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.materialized_view.basic import MaterializedViewBasic
from dbt.tests.adapter.materialized_view.changes import (
    MaterializedViewChanges,
    MaterializedViewChangesApplyMixin,
    MaterializedViewChangesContinueMixin,
    MaterializedViewChangesFailMixin,
)

no_materialized_views = pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="Spark has no materialized views: the model is refused, `dbt exit state did not match expected`",
)


@no_materialized_views
class TestMaterializedViewBasic(MaterializedViewBasic):
    pass


@no_materialized_views
class TestMaterializedViewChangesApply(MaterializedViewChanges, MaterializedViewChangesApplyMixin):
    pass


@no_materialized_views
class TestMaterializedViewChangesContinue(MaterializedViewChanges, MaterializedViewChangesContinueMixin):
    pass


@no_materialized_views
class TestMaterializedViewChangesFail(MaterializedViewChanges, MaterializedViewChangesFailMixin):
    pass
