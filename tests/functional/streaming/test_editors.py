"""An editor (such as dbt Power User) compiles a model with dbt's classes, without running a dbt command."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import pytest
from dbt.adapters.factory import get_adapter
from dbt.compilation import Compiler
from dbt.config.runtime import RuntimeConfig
from dbt.flags import get_flags, set_flags, set_from_args
from dbt.selected_resources import set_selected_resources
from dbt.tests.util import get_manifest, run_dbt

ORDERS = """
{{ config(materialized='incremental', primary_key='order_id', bucket=1) }}
select 1 as order_id, 10 as amount
"""
STREAMED = "{{ config(materialized='streaming') }} select order_id from {{ stream(ref('orders')) }}"
CHANGED = """
{{ config(materialized='incremental', primary_key='order_id', bucket=1) }}
select order_id, _row_kind as kind from {{ paimon_changes(ref('orders')) }}
"""


class TestEditors:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"orders.sql": ORDERS, "streamed.sql": STREAMED, "changed.sql": CHANGED}

    @pytest.fixture
    def config(self, project: Any) -> Iterator[RuntimeConfig]:
        """The config that an editor creates, after a run has created the tables."""
        run_dbt(["run"])
        before = get_flags()
        set_from_args(
            Namespace(
                project_dir=project.project_root,
                profiles_dir=project.profiles_dir,
                profile=None,
                target=None,
                threads=1,
                vars={},
            ),
            None,
        )
        set_selected_resources([])
        yield RuntimeConfig.from_args(get_flags())
        set_flags(before)

    def test_compiled_sql_is_a_query(self, project: Any, config: RuntimeConfig, rows: Any) -> None:
        manifest = get_manifest(project.project_root)
        manifest.build_flat_graph()
        adapter = get_adapter(config)
        found = {}
        for name in ("streamed", "changed"):
            with adapter.connection_named("editor"):
                node = Compiler(config).compile_node(manifest.nodes[f"model.test.{name}"], manifest, {}, write=False)
            found[name] = rows(node.compiled_code)
        # The stream returns all rows of its source; paimon_changes returns what the next run would read, here nothing.
        assert found == {"streamed": [(1,)], "changed": []}
