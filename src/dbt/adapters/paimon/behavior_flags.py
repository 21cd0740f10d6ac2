"""The adapter's behavior flags, set under `flags:` in dbt_project.yml (docs/behavior-flags.md has their history)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dbt_common.behavior_flags import Behavior, BehaviorFlag
from dbt_common.exceptions import DbtRuntimeError


def _flag(name: str, description: str, *, default: bool = True) -> BehaviorFlag:
    docs = "dbt-paimon's docs/behavior-flags.md"
    return BehaviorFlag(name=name, default=default, description=description, source="dbt-paimon", docs_url=docs)


LOSSLESS_CASTS: Final = _flag(
    "require_lossless_casts",
    "Spark casts values whose type does not fit their column, even if that loses data.",
)
STRICT_CONFIG: Final = _flag("require_strict_config", "Unknown config keys are ignored.")
SERVER_TOKEN: Final = _flag(
    "require_server_token",
    "Every user of this machine can run statements on the warm Spark server, as the user who started it.",
)
PAIMON_VERSION: Final = _flag(
    "require_paimon_version", "A profile without paimon_version gets the newest tested version.", default=False
)
KEPT_HISTORY: Final = _flag(
    "require_consent_to_lose_history",
    "A run replaces a table whose primary key has changed, and loses its table snapshots and tags.",
)
EXACT_MERGES: Final = _flag(
    "require_exact_merges", "New tables may have aggregations that return wrong values after some changes of a key."
)
AUTO_BUCKETS: Final = _flag(
    "use_auto_buckets", "New tables with a primary key have dynamic buckets, unless their config says otherwise."
)
FLAGS: Final = (LOSSLESS_CASTS, STRICT_CONFIG, SERVER_TOKEN, PAIMON_VERSION, KEPT_HISTORY, EXACT_MERGES, AUTO_BUCKETS)


def is_on(behavior: Behavior, flag: BehaviorFlag) -> bool:
    """Whether a project has switched a flag on. Avoids dbt's own warning, which would not name the model."""
    setting: object = getattr(behavior, flag["name"]).no_warn
    if isinstance(setting, bool):
        return setting
    raise DbtRuntimeError(
        f"dbt_project.yml: flags: {flag['name']}: {setting!r}: must be true or false, without quotes."
    )


def of_project(root: Path) -> Behavior:
    """The flags of the project in a folder, for commands that run outside dbt."""
    from dbt.config.project import load_raw_project

    return Behavior(list(FLAGS), load_raw_project(str(root)).get("flags") or {})
