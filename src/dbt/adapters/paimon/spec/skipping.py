"""`skip_unchanged`: whether a run skips nodes without new input (see the package `unchanged`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.keys import BOOLEAN
from dbt.adapters.paimon.spec.component import Component, config_key
from dbt.adapters.paimon.spec.problems import Problems

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


def check(config: Mapping[str, Any], problems: Problems) -> None:
    """Add a problem for a value that is neither true nor false."""
    value = config.get(KEY)
    if value is not None and not isinstance(value, bool):
        problems.add(KEY, value, "true or false (the default) is needed. Set one of the two")


def is_on(config: Mapping[str, Any]) -> bool:
    """Whether a node may be skipped."""
    return config.get(KEY) is True
