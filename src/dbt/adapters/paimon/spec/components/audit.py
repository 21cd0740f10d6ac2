"""`wap`: rows are audited on a branch before they are published (write-audit-publish)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.config_keys import BOOLEAN
from dbt.adapters.paimon.spec.component import Component, Found, config_key
from dbt.adapters.paimon.spec.config_values import is_on
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET, TableSpec


@dataclass
class Keys:
    """The config key."""

    wap: bool | str | None = config_key(
        "Whether new rows are published only after the model's data tests have passed on them",
        BOOLEAN,
        default="`false`",
        page="time-travel.md#write-audit-publish-wap-true",
    )


def read(config: Mapping[str, Any], problems: Problems, versions: Versions) -> bool:
    """Whether the rows are audited before they are published."""
    if isinstance(config.get("wap"), Mapping):
        problems.add(
            "wap",
            config["wap"],
            "each model is published by itself. Set true; `dbt-paimon env promote` publishes the tables of many models",
        )
        return True
    if not is_on(config, "wap", problems):
        return False
    if fault := _fault(config, versions):
        problems.add("wap", config["wap"], fault)
    return True


def _fault(config: Mapping[str, Any], versions: Versions) -> str:
    strategy = config.get("incremental_strategy")
    if config.get("materialized") in ("seed", "snapshot"):
        return f"a {config['materialized']} cannot be audited before its commit. Use it on models"
    if strategy in ("microbatch", "apply_changes"):
        return (
            f"does not work with incremental_strategy='{strategy}'. Use upsert, merge, insert_overwrite, "
            "delete+insert or append"
        )
    return versions.explain(Capability.BRANCHES)


def _hidden_rows(spec: TableSpec, versions: Versions) -> Found:
    if spec.wap and (spec.bucket == POSTPONE_BUCKET or spec.hides_new_rows):
        option = spec.hides_new_rows or "bucket=-2"
        yield "wap", f"rows that are not compacted yet cannot be audited ({option}). Remove that option, or wap"


COMPONENT: Final = Component(keys=Keys, rules=(_hidden_rows,))
