"""dbt behavior flags of this adapter: changes that could break existing projects, each with a switch.

They are set under `flags:` in dbt_project.yml. docs/behavior-flags.md says since when each exists and when it is
removed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dbt_common.behavior_flags import Behavior, BehaviorFlag
from dbt_common.exceptions import DbtRuntimeError

_SOURCE: Final = "dbt-paimon"
_DOCS: Final = "dbt-paimon's docs/behavior-flags.md"

LOSSLESS_CASTS: Final = BehaviorFlag(
    name="require_lossless_casts",
    default=True,
    description="Values whose type does not fit their column are cast as Spark casts them, even with loss.",
    source=_SOURCE,
    docs_url=_DOCS,
)
STRICT_CONFIG: Final = BehaviorFlag(
    name="require_strict_config",
    default=True,
    description="Config keys that nothing reads are ignored.",
    source=_SOURCE,
    docs_url=_DOCS,
)
SERVER_TOKEN: Final = BehaviorFlag(
    name="require_server_token",
    default=True,
    description="Every user of this machine can run statements on the warm Spark server, as the user who started it.",
    source=_SOURCE,
    docs_url=_DOCS,
)
PAIMON_VERSION: Final = BehaviorFlag(
    name="require_paimon_version",
    default=False,
    description="A profile without paimon_version gets the default version.",
    source=_SOURCE,
    docs_url=_DOCS,
)
KEPT_HISTORY: Final = BehaviorFlag(
    name="require_consent_to_lose_history",
    default=True,
    description="A run replaces a table whose key changed by a new one, and loses its table snapshots and tags.",
    source=_SOURCE,
    docs_url=_DOCS,
)
EXACT_MERGES: Final = BehaviorFlag(
    name="require_exact_merges",
    default=True,
    description="New tables have aggregations that give a wrong value for some changes of a key.",
    source=_SOURCE,
    docs_url=_DOCS,
)
AUTO_BUCKETS: Final = BehaviorFlag(
    name="use_auto_buckets",
    default=True,
    description="New tables with a primary key have dynamic buckets, unless their config says otherwise.",
    source=_SOURCE,
    docs_url=_DOCS,
)
FLAGS: Final = (
    LOSSLESS_CASTS,
    STRICT_CONFIG,
    SERVER_TOKEN,
    PAIMON_VERSION,
    KEPT_HISTORY,
    EXACT_MERGES,
    AUTO_BUCKETS,
)


def is_on(behavior: Behavior, flag: BehaviorFlag) -> bool:
    """Whether a project has switched a flag on.

    Does not fire dbt's event, which does not name the model: effects of a flag are reported where they occur (see
    `errors.deprecations`).

    Raises:
        DbtRuntimeError: it is neither true nor false, which dbt does not check.
    """
    setting: object = getattr(behavior, flag["name"]).no_warn
    if isinstance(setting, bool):
        return setting
    raise DbtRuntimeError(
        f"dbt_project.yml: flags: {flag['name']}: {setting!r}: true or false is needed, without quotes."
    )


def of_project(root: Path) -> Behavior:
    """The flags of a project, for commands that run outside of dbt.

    Args:
        root: the folder of dbt_project.yml.

    Raises:
        DbtProjectError: there is no dbt_project.yml, or it cannot be read.
    """
    from dbt.config.project import load_raw_project

    return Behavior(list(FLAGS), load_raw_project(str(root)).get("flags") or {})
