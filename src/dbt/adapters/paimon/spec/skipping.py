"""`skip_unchanged`: whether a run skips nodes without new input (see the package `unchanged`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.config_keys import BOOLEAN
from dbt.adapters.paimon.spec.component import Component, config_key

KEY: Final = "skip_unchanged"


@dataclass
class Keys:
    """The config key."""

    skip_unchanged: bool | str | None = config_key(
        "Whether a run leaves the table alone when query, config and inputs are those of its last commit, and does "
        "not repeat a data test that has passed",
        BOOLEAN,
        default="`false`",
        page="skip-unchanged.md",
    )


COMPONENT: Final = Component(keys=Keys)


def is_on(config: Mapping[str, Any]) -> bool:
    """Whether a node may be skipped."""
    return str(config.get(KEY)).lower() == "true"
