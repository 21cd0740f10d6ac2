"""dbt's own suite: ephemeral models."""

from __future__ import annotations

from dbt.tests.adapter.ephemeral.test_ephemeral import BaseEphemeralErrorHandling


class TestEphemeralErrorHandling(BaseEphemeralErrorHandling):
    pass
