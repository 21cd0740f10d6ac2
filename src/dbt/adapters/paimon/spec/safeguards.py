"""Config that limits what a run may do with a node: `on_rebuild` and `max_bytes_read`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.options.table_options import parse_memory_size
from dbt.adapters.paimon.spec.component import Component, config_key
from dbt.adapters.paimon.spec.problems import Problems

ON_REBUILD: Final = "on_rebuild"
ASK: Final = "ask"
DROP_HISTORY: Final = "drop_history"
MAX_BYTES_READ: Final = "max_bytes_read"
# MAX_BYTES_READ does not apply to these: a seed reads a file, and a stream reads only new rows.
_READ_NO_TABLES: Final = ("seed", "streaming")


@dataclass
class Keys:
    """The config keys."""

    on_rebuild: str | None = config_key(
        "Whether any run may replace the table by a new one, which loses its table snapshots, tags and branches "
        f"(`{DROP_HISTORY}`), or only one with `--full-refresh` (`{ASK}`)",
        values=(ASK, DROP_HISTORY),
        default=f"`{ASK}`",
        page="results.md#limits",
    )
    max_bytes_read: int | str | None = config_key(
        "The size of data files that a query may read; if it would read more, it is refused before it runs",
        "a size, as in `'10 gb'`",
        default="no limit",
        page="results.md#limits",
    )


COMPONENT: Final = Component(keys=Keys)


def check(config: Mapping[str, Any], problems: Problems) -> None:
    """Add a problem for each invalid value of these keys."""
    on_rebuild = config.get(ON_REBUILD)
    if on_rebuild not in (None, ASK, DROP_HISTORY):
        problems.add(ON_REBUILD, on_rebuild, f"not allowed. Use {ASK} (the default) or {DROP_HISTORY}")
    limit, kind = config.get(MAX_BYTES_READ), config.get("materialized")
    if limit is not None and kind in _READ_NO_TABLES:
        reason = f"a {kind} node has no query that could be refused before it runs. Remove it"
        problems.add(MAX_BYTES_READ, limit, reason)
    try:
        max_bytes_read(config)
    except ValueError:
        reason = "a size above 0 is needed. Write a whole number and a unit, as in '10 gb' or '500 mb'"
        problems.add(MAX_BYTES_READ, limit, reason)


def drops_history(config: Mapping[str, Any]) -> bool:
    """Whether any run may rebuild the table, which loses its table snapshots and tags."""
    return config.get(ON_REBUILD) == DROP_HISTORY


def max_bytes_read(config: Mapping[str, Any]) -> int | None:
    """The maximum size of data files that a node's query may read, or None; raises ValueError if it is invalid."""
    value = config.get(MAX_BYTES_READ)
    if value is None:
        return None
    if (size := parse_memory_size(str(value))) <= 0:
        raise ValueError(value)
    return size
