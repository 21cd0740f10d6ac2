"""dbt's own suite: seeds."""

from __future__ import annotations

from dbt.tests.adapter.simple_seed.test_seed import BaseSimpleSeedEnabledViaConfig, BaseTestEmptySeed


class TestSimpleSeedEnabledViaConfig(BaseSimpleSeedEnabledViaConfig):
    pass


class TestTestEmptySeed(BaseTestEmptySeed):
    pass
