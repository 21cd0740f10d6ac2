"""`wap`: rows are audited on a branch before they are published (write-audit-publish)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.keys import BOOLEAN, key_field
from dbt.adapters.paimon.spec.component import Component
from dbt.adapters.paimon.spec.problems import Problems


@dataclass
class Keys:
    """The config key."""

    wap: bool | str | None = key_field(
        None,
        "Whether new rows are published only after the model's data tests have passed on them",
        BOOLEAN,
        default="`false`",
        page="time-travel.md#write-audit-publish-wap-true",
    )


def read(
    config: Mapping[str, Any], options: Mapping[str, str], problems: Problems, versions: Versions
) -> bool:
    """Whether rows are audited first."""
    value, strategy = config.get("wap"), config.get("incremental_strategy")
    if value is None or str(value).lower() == "false":
        return False
    if str(value).lower() != "true":
        problems.add("wap", value, "true or false is needed. Write it without quotes")
    elif config.get("materialized") in ("seed", "snapshot"):
        problems.add(
            "wap", value, f"a {config['materialized']} cannot be audited before its commit. Use it on models"
        )
    elif strategy in ("microbatch", "apply_changes"):
        problems.add(
            "wap",
            value,
            f"does not work with incremental_strategy='{strategy}'. Use upsert, merge, "
            "insert_overwrite, delete+insert or append",
        )
    elif missing := versions.explain(Capability.BRANCHES):
        problems.add("wap", value, missing)
    if options.get("bucket") == "-2":
        problems.add(
            "wap",
            True,
            "rows of postpone buckets cannot be audited before they are compacted. Use other buckets, or remove it",
        )
    return True


COMPONENT: Final = Component(keys=Keys)
