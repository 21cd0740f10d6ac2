"""dbt's snapshots according to its docs: the versions that a run leaves, in plain Python.

Sources: https://docs.getdbt.com/docs/build/snapshots and the reference of each config; docs/dimensions.md where dbt's
docs say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import eq
from typing import Any, Literal

Row = Mapping[str, Any]
Same = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class SnapshotConfig:
    """The configs that affect versions, with dbt's names and defaults.

    Attributes:
        unique_key: the names of its columns.
        updated_at: a column; None is the time of the run, which only `check` allows.
        check_cols: names of columns, or "all".
    """

    unique_key: tuple[str, ...]
    strategy: Literal["timestamp", "check"]
    updated_at: str | None = None
    check_cols: tuple[str, ...] | Literal["all"] = "all"
    hard_deletes: Literal["ignore", "invalidate", "new_record"] = "ignore"


@dataclass(frozen=True)
class Version:
    """A row of a snapshot.

    Attributes:
        row: the query's columns.
        valid_from, updated_at: dbt_valid_from and dbt_updated_at.
        valid_to: dbt_valid_to; None for a current version, even with `dbt_valid_to_current`.
        deleted: dbt_is_deleted.
    """

    row: Row
    valid_from: Any
    updated_at: Any
    valid_to: Any = None
    deleted: bool = False


def after_run(
    config: SnapshotConfig,
    versions: Sequence[Version] | None,
    rows: Iterable[Row],
    now: Any,
    partial: bool = False,
    same: Same = eq,
) -> tuple[Version, ...]:
    """The snapshot's versions after a run.

    Args:
        config: the snapshot's config.
        versions: those before the run; None if there is no table.
        rows: what the query returns, one row per key. A key may have NULLs, which are equal to each other.
        now: the time of the run, comparable with the values of `updated_at`.
        partial: whether the run has --empty or --sample. A row that it does not see is not deleted.
        same: whether two values of a column are equal, as SQL compares them.
    """
    before = list(versions or ())
    given = {_key(config, row): row for row in rows}
    current = {_key(config, version.row): version for version in before if version.valid_to is None}
    left = [version for version in before if version.valid_to is not None]
    last_times = _last_times(config, left)
    for key, row in given.items():
        old = current.pop(key, None)
        updated_at = row[config.updated_at] if config.updated_at else now
        if old and not old.deleted and not _changed(config, old, row, updated_at, same):
            left.append(old)
            continue
        begins = updated_at
        if old or key in last_times:
            begins = _begins(updated_at, old.valid_from if old else last_times[key], now)
        if old:
            left.append(replace(old, valid_to=begins))
        left.append(Version(row, begins, updated_at))
    for old in current.values():
        left.extend(_unseen(config, old, now, partial))
    return _with_all_columns(left)


def _key(config: SnapshotConfig, row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in config.unique_key)


def _last_times(config: SnapshotConfig, ended: Iterable[Version]) -> dict[tuple[Any, ...], Any]:
    """key -> the latest time of its ended versions."""
    found: dict[tuple[Any, ...], Any] = {}
    for version in ended:
        key = _key(config, version.row)
        found[key] = _later(found.get(key), _later(version.valid_from, version.valid_to))
    return found


def _changed(config: SnapshotConfig, old: Version, row: Row, updated_at: Any, same: Same) -> bool:
    if config.strategy == "timestamp":
        return _is_later(updated_at, old.updated_at)
    names = row if config.check_cols == "all" else config.check_cols
    return any(name not in old.row or not same(old.row[name], row[name]) for name in names)


def _begins(updated_at: Any, last: Any, now: Any) -> Any:
    """`updated_at`, or the run's time if `updated_at` is not after the previous version: versions never overlap."""
    return updated_at if _is_later(updated_at, last) else _later(now, last)


def _unseen(config: SnapshotConfig, old: Version, now: Any, partial: bool) -> list[Version]:
    """What replaces the current version of a key that the query does not return."""
    with_record = config.hard_deletes == "new_record"
    if partial or config.hard_deletes == "ignore" or (with_record and old.deleted):
        return [old]
    ends = _later(now, old.valid_from)
    ended = replace(old, valid_to=ends)
    return [ended, replace(old, valid_from=ends, updated_at=now, deleted=True)] if with_record else [ended]


def _is_later(one: Any, other: Any) -> bool:
    """NULL is before every time."""
    return one is not None and (other is None or one > other)


def _later(one: Any, other: Any) -> Any:
    return one if _is_later(one, other) else other


def _with_all_columns(versions: Sequence[Version]) -> tuple[Version, ...]:
    """The versions with all columns: new columns are NULL in older versions, dropped ones in newer versions."""
    names = dict.fromkeys(name for version in versions for name in version.row)
    return tuple(replace(version, row={name: version.row.get(name) for name in names}) for version in versions)
