"""Warns where a behavior flag is off, and a run depends on what the next version changes (docs/behavior-flags.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbt_common.behavior_flags import BehaviorFlag
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import behavior
from dbt.adapters.paimon.errors import deprecations
from dbt.adapters.paimon.errors.deprecations import OnceARun


class ChangingDefaults:
    """The defaults of one target that are going to change.

    Args:
        config: dbt's configuration of the run, for the names of profile and target.
        flags: returns dbt's behavior flags, which are read after the adapter is made.
        once: which warnings this run has given.
    """

    def __init__(self, config: Any, flags: Callable[[], Any], once: OnceARun) -> None:
        self._config = config
        self._flags = flags
        self._once = once

    @property
    def warn_lossy_cast(self) -> Callable[[str], None] | None:
        """The callback that warns about values changed by a cast; None if they are refused."""
        return self._unless(behavior.LOSSLESS_CASTS)

    @property
    def warn_ignored_config(self) -> Callable[[str], None] | None:
        """The callback that warns about config that nothing reads; None if it is refused."""
        return self._unless(behavior.STRICT_CONFIG)

    @property
    def warn_history_loss(self) -> Callable[[str], None] | None:
        """The callback that warns about history lost with a replaced table; None if that is refused."""
        return self._unless(behavior.KEPT_HISTORY)

    @property
    def warn_inexact_merge(self) -> Callable[[str], None] | None:
        """The callback that warns about aggregations with wrong values for some changes; None if they are refused."""
        return self._unless(behavior.EXACT_MERGES)

    @property
    def sizes_buckets(self) -> bool:
        """Whether `bucket: auto` is what a table with a primary key has without `bucket` in its config."""
        return behavior.is_on(self._flags(), behavior.AUTO_BUCKETS)

    def default_version(self, taken: str) -> None:
        """Warn once per run that the profile does not set a Paimon version.

        Args:
            taken: the default version.

        Raises:
            DbtRuntimeError: the flag `require_paimon_version` is on.
        """
        what = f"target '{self._config.target_name}' of profile '{self._config.profile_name}' has no paimon_version"
        write = f"Set it in the target: paimon_version: '{taken}'"
        if behavior.is_on(self._flags(), behavior.PAIMON_VERSION):
            raise DbtRuntimeError(
                f"{what}, and the flag require_paimon_version is on (dbt_project.yml). {write}."
            )
        if self._once.first("paimon_version"):
            goes = f"{what}. The default {taken} is used, which changes in 1.0."
            deprecations.deprecate(goes, f"{write}.")

    def _unless(self, flag: BehaviorFlag) -> Callable[[str], None] | None:
        if behavior.is_on(self._flags(), flag):
            return None
        goes = f"The flag {flag['name']} will be removed in 1.0; this is an error then."

        def warn(what: str) -> None:
            if self._once.first(what):
                deprecations.deprecate(what, goes)

        return warn
