"""The specs of configs, without an adapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.build import collect_table_spec
from dbt.adapters.paimon.spec.dbt_snapshots import collect_snapshot_spec
from dbt.adapters.paimon.spec.declared import Declared
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.strategies import collect_incremental_spec
from dbt.adapters.paimon.streaming.settings import collect_stream_spec


def _raising(collect: Callable[[Declared, Versions, Problems], Any]) -> Callable[..., Any]:
    def spec_of(config: Mapping[str, Any], *, model: str, versions: Versions, warn: Any = None, **more: Any) -> Any:
        problems = Problems(model, warn=warn)
        spec = collect(Declared(model, config, **more), versions, problems)
        problems.raise_if_any()
        return spec

    return spec_of


table_spec = _raising(collect_table_spec)
incremental_spec = _raising(collect_incremental_spec)
snapshot_spec = _raising(collect_snapshot_spec)
stream_spec = _raising(collect_stream_spec)
