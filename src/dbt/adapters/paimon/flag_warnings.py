"""Warnings for a project that has a behavior flag off: its results will change when the flag is removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.behavior_flags import BehaviorFlag
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import behavior_flags
from dbt.adapters.paimon.errors.warnings import OnceARun, deprecate, warn
from dbt.adapters.paimon.spark.launch.default_version import ASSUMED, DefaultVersion

logger = AdapterLogger("Paimon")
# Called with a warning; None if an error is to be raised instead.
Warn = Callable[[str], None] | None


class ChangingDefaults:
    """The defaults that are going to change, for one target (docs/behavior-flags.md)."""

    def __init__(self, config: Any, flags: Callable[[], Any], once: OnceARun) -> None:
        self._config = config
        # Called later, because dbt sets its flags after it has created the adapter.
        self._flags = flags
        self._once = once

    @property
    def warn_lossy_cast(self) -> Warn:
        """Warns about values that a cast changes."""
        return self._unless(behavior_flags.LOSSLESS_CASTS)

    @property
    def warn_ignored_config(self) -> Warn:
        """Warns about unknown config keys."""
        return self._unless(behavior_flags.STRICT_CONFIG)

    @property
    def warn_history_loss(self) -> Warn:
        """Warns about the history that is lost with a replaced table."""
        return self._unless(behavior_flags.KEPT_HISTORY)

    @property
    def warn_inexact_merge(self) -> Warn:
        """Warns about aggregations that return wrong values after some changes."""
        return self._unless(behavior_flags.EXACT_MERGES)

    @property
    def sizes_buckets(self) -> bool:
        """Whether `bucket: auto` is the default of tables with a primary key."""
        return behavior_flags.is_on(self._flags(), behavior_flags.AUTO_BUCKETS)

    def default_version(self, chosen: DefaultVersion) -> None:
        """Log once per run which Paimon version a profile without `paimon_version` gets; raise if the flag is on."""
        what = f"target '{self._config.target_name}' of profile '{self._config.profile_name}' has no paimon_version"
        write = f"write in the target: paimon_version: '{chosen.version}'"
        if behavior_flags.is_on(self._flags(), behavior_flags.PAIMON_VERSION):
            raise DbtRuntimeError(
                f"{what}, and the flag require_paimon_version is on (dbt_project.yml). To set it, {write}"
            )
        if self._once.first("paimon_version"):
            tell = warn if chosen is ASSUMED else logger.info
            tell(f"Paimon {chosen.version}: {chosen.reason}. To pin it, {write}")

    def _unless(self, flag: BehaviorFlag) -> Warn:
        if behavior_flags.is_on(self._flags(), flag):
            return None
        removal = f"The flag {flag['name']} will be removed in 1.0; this is an error then."

        def warn(what: str) -> None:
            if self._once.first(what):
                deprecate(what, removal)

        return warn
