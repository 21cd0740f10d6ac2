"""Warns about config that is valid but has surprising effects. The rules of `components` refuse invalid config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec import deleting
from dbt.adapters.paimon.spec.components import COMPONENTS
from dbt.adapters.paimon.spec.config_origin import ConfigOrigin
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec


def advice(
    spec: TableSpec, config: Mapping[str, Any], model: str, versions: Versions, types: Mapping[str, str] = {}
) -> tuple[str, ...]:
    """The warnings for a valid table, each with model, key, value and remedy.

    `types` maps columns to Spark types, and is empty if the columns are not known yet.
    """
    problems = Problems(model)
    origin = ConfigOrigin(config)
    for component in COMPONENTS:
        for rule in component.advice:
            origin.report(problems, spec, rule(spec, types, versions))
    for key, reason in _strategy_advice(spec, config, versions):
        problems.add(key, config.get(key), reason)
    return tuple(problems.messages)


def _strategy_advice(spec: TableSpec, config: Mapping[str, Any], versions: Versions) -> Iterator[tuple[str, str]]:
    strategy, merge_deletes = config.get("incremental_strategy"), config.get("merge_delete_condition")
    deletes = merge_deletes or strategy in ("delete+insert", "microbatch", "apply_changes")
    if deletes and deleting.waits_for_compaction(spec):
        yield (
            "incremental_strategy",
            "writes deletes, which Spark's compaction of postpone buckets drops. Set "
            "postpone_bucket.batch_write_fixed_bucket to true, or use other buckets",
        )
    carried = deleting.carried_values(spec, versions)
    hooks = f"{config.get('post-hook')} {config.get('post_hook')}"
    if carried and merge_deletes and "compact(" not in hooks:
        yield "merge_delete_condition", f'{carried}. Add post_hook="{{{{ compact(this) }}}}"'
    if config.get("unique_key") and strategy == "append" and not spec.primary_key:
        yield (
            "unique_key",
            "incremental_strategy='append' adds rows without looking for a key: a row that comes again is "
            "duplicated. Remove unique_key, use 'merge', or set primary_key and use 'upsert'",
        )
