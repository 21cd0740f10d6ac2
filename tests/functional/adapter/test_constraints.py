"""dbt's own suite: contracts and constraints."""

from __future__ import annotations

from dbt.tests.adapter.constraints.test_constraints import BaseIncrementalForeignKeyConstraint


class TestIncrementalForeignKeyConstraint(BaseIncrementalForeignKeyConstraint):
    pass
