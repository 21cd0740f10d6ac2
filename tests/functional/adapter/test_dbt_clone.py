"""dbt's own suite: clone."""

from __future__ import annotations

from dbt.tests.adapter.dbt_clone.test_dbt_clone import BaseCloneSameTargetAndState


class TestCloneSameTargetAndState(BaseCloneSameTargetAndState):
    pass
