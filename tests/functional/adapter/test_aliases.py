"""dbt's own suite: aliases."""

from __future__ import annotations

from dbt.tests.adapter.aliases.test_aliases import BaseAliasErrors


class TestAliasErrors(BaseAliasErrors):
    pass
