"""Turns a model's `maintenance` config into a `MaintenancePolicy`; `maintenance.plan` decides what is due."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dbt.adapters.paimon.keys import BOOLEAN, COLUMNS, DURATION, NUMBER, Key
from dbt.adapters.paimon.options.table_options import is_duration, parse_duration, parse_memory_size, suggestion
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.sql.procedures import COMPACT_STRATEGIES, EXPIRE_STRATEGIES, ORDER_STRATEGIES

# A bucket with this many small files is due for compaction, unless the policy sets another number.
SMALL_FILES: Final = 10
# Paimon's default (CoreOptions.SNAPSHOT_NUM_RETAINED_MIN).
RETAIN_MIN: Final = 10
# OrphanFilesClean.olderThanMillis: younger files may belong to a writer that has yet to commit.
ORPHAN_AGE: Final = "1 d"
ON_FAILURE: Final = ("warn", "error")
# Twice the recommended maximum (bucket_numbers.MOST_BYTES).
MAX_BUCKET_SIZE: Final = 2 * 2**30


@dataclass(frozen=True)
class Compact:
    """Merge data files if a bucket has `small_files` small files, or after `every_commits` commits (0: not checked).

    At most one of `newest` (number of partitions), `idle` (partitions not written for this time) and `where` is set.
    """

    strategy: str = "full"
    order: str = ""
    order_by: tuple[str, ...] = ()
    newest: int = 0
    idle: str = ""
    where: str = ""
    small_files: int = SMALL_FILES
    every_commits: int = 0
    after_run: bool = True


@dataclass(frozen=True)
class ExpireSnapshots:
    """Expire table snapshots if there are more than `retain_max`, or if `older_than`; keep at least `retain_min`."""

    retain_max: int | None = None
    retain_min: int = RETAIN_MIN
    older_than: str = ""
    after_run: bool = True

    @property
    def options(self) -> dict[str, str]:
        """The table options with which Paimon expires table snapshots at each commit."""
        found = {
            "snapshot.num-retained.min": self.retain_min,
            "snapshot.num-retained.max": self.retain_max,
            "snapshot.time-retained": self.older_than or None,
        }
        return {name: str(value) for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class ExpirePartitions:
    """Drop partitions older than `expiration_time`: by value, or (update-time) by their newest file."""

    expiration_time: str
    timestamp_formatter: str = ""
    timestamp_pattern: str = ""
    expire_strategy: str = "values-time"
    after_run: bool = True


@dataclass(frozen=True)
class RemoveOrphanFiles:
    """Delete orphan files. This lists the table's whole folder, so runs do it only with `after_run`."""

    older_than: str = ORPHAN_AGE
    after_run: bool = False


@dataclass(frozen=True)
class Rescale:
    """Give a table with `bucket: auto` more buckets if one exceeds `max_bucket_size` bytes.

    This rewrites all rows, so runs do it only with `after_run`.
    """

    max_bucket_size: int = MAX_BUCKET_SIZE
    after_run: bool = False


@dataclass(frozen=True)
class MaintenancePolicy:
    """The maintenance of a table; `on_failure` is 'warn' or 'error'."""

    compact: Compact | None = None
    expire_snapshots: ExpireSnapshots | None = None
    expire_partitions: ExpirePartitions | None = None
    remove_orphan_files: RemoveOrphanFiles | None = None
    rescale: Rescale | None = None
    on_failure: str = "warn"

    def after_run(self) -> MaintenancePolicy:
        """The policy with only the actions that a run performs after its commit."""
        actions = {name: getattr(self, name) for name in ACTIONS}
        without: Any = {name: None for name, action in actions.items() if action and not action.after_run}
        return replace(self, **without)

    @property
    def is_empty(self) -> bool:
        """Whether the policy has no actions."""
        return not any(getattr(self, action) for action in ACTIONS)


_AFTER_RUN: Final = "Whether a run does this after its commit; otherwise only `maintain` does"
# Action -> its keys.
ACTION_KEYS: Final[Mapping[str, Mapping[str, Key]]] = {
    "compact": {
        "strategy": Key(
            "`full` merges all levels of a bucket; `minor`, from Paimon 1.0, those that Paimon's own trigger would",
            values=COMPACT_STRATEGIES,
            default="`full`",
        ),
        "order": Key(
            "The order in which `order_by` sorts the rows of an append table",
            values=ORDER_STRATEGIES,
            default="`order` with `order_by`",
        ),
        "order_by": Key("The columns by which the rows are sorted while merging", COLUMNS),
        "partitions": Key(
            "Only these partitions: the newest by value, those not written lately, or those that meet a condition",
            "`newest`, `{newest: 3}`, `{older_than: '1 d'}` or `{where: \"dt > '2024-01-01'\"}`",
            default="all",
        ),
        "small_files": Key(
            "Due when a bucket has this many files smaller than 70 % of `target-file-size` (by default 128 MB, "
            "without a primary key 256 MB)",
            NUMBER,
            default=f"`{SMALL_FILES}`, without `every_commits`",
        ),
        "every_commits": Key("Due after this many commits since the last compaction", NUMBER),
        "after_run": Key(_AFTER_RUN, BOOLEAN, default="`true`"),
    },
    "expire_snapshots": {
        "retain_max": Key("How many table snapshots are kept at most; this or `older_than` is required", NUMBER),
        "retain_min": Key(
            "How many are kept at any age",
            NUMBER,
            default=f"`{RETAIN_MIN}`, or `retain_max` without `older_than`",
        ),
        "older_than": Key("How old a table snapshot may get", DURATION),
        "after_run": Key(_AFTER_RUN, BOOLEAN, default="`true`"),
    },
    "expire_partitions": {
        "expiration_time": Key("How old a partition may get", DURATION, default="required"),
        "timestamp_formatter": Key("The pattern by which a partition's value is read as a time", "a Java pattern"),
        "timestamp_pattern": Key(
            "How the partition columns are combined into that value",
            "text, as in `$day $hour:00:00`",
            default="the first column",
        ),
        "expire_strategy": Key(
            "Whether a partition's age is computed from its value or from its last write",
            values=EXPIRE_STRATEGIES,
            default="`values-time`",
        ),
        "after_run": Key(_AFTER_RUN, BOOLEAN, default="`true`"),
    },
    "remove_orphan_files": {
        "older_than": Key("How old a file must be, at least one day", DURATION, default=f"`{ORPHAN_AGE}`"),
        "after_run": Key(_AFTER_RUN, BOOLEAN, default="`false`: it lists the table's whole folder"),
    },
    "rescale": {
        "max_bucket_size": Key(
            "A table with `bucket: auto` gets more buckets when one is larger",
            "a size, as in `'1 gb'`",
            default="`2 gb`",
        ),
        "after_run": Key(_AFTER_RUN, BOOLEAN, default="`false`: it rewrites all rows"),
    },
}
ACTIONS: Final = tuple(ACTION_KEYS)
# Keys of a policy that are not actions.
POLICY_KEYS: Final[Mapping[str, Key]] = {
    "on_failure": Key(
        "Whether a failed action is a warning or an error of the run; its rows are committed either way",
        values=ON_FAILURE,
        default="`warn`",
    ),
    "enabled": Key("`false` removes all actions, including those of the folder", BOOLEAN, default="`true`"),
}


def read_policy(value: Any, problems: Problems) -> MaintenancePolicy | None:
    """The policy in a model's config, or None; adds to `problems`. If there are any, do not use the policy."""
    if value is None or value == {}:
        return None
    top = _Reader("maintenance", value, problems, (*ACTIONS, *POLICY_KEYS), "{'compact': {'small_files': 10}}")
    if not top.flag("enabled", default=True):
        return None
    actions: dict[str, Any] = {}
    for name, (read, example) in _READERS.items():
        given = top.get(name)
        # null and false remove an action that a folder has set; true means all defaults.
        if given is None or given is False:
            continue
        reader = _Reader(f"maintenance.{name}", {} if given is True else given, problems, ACTION_KEYS[name], example)
        action = read(reader)
        actions[name] = replace(action, after_run=reader.flag("after_run", default=action.after_run))
    return MaintenancePolicy(**actions, on_failure=top.one_of("on_failure", ON_FAILURE, "warn"))


class _Reader:
    """Reads the keys of one mapping by their types, and reports unknown keys."""

    def __init__(self, where: str, value: Any, problems: Problems, keys: Collection[str], example: str) -> None:
        self.where, self.problems = where, problems
        self.values: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        if not isinstance(value, Mapping):
            problems.add(where, value, f"a mapping is needed. Write it as in {example}")
        problems.add_unknown(where, self.values, keys)

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def add(self, key: str, reason: str) -> None:
        self.problems.add(f"{self.where}.{key}", self.get(key), reason)

    def one_of(self, key: str, allowed: Sequence[str], default: str) -> str:
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, str) or value.lower() not in allowed:
            near = suggestion(str(value), allowed, cutoff=0.6)
            self.add(key, f"Did you mean '{near}'?" if near else f"not allowed. Use {' or '.join(allowed)}")
            return default
        return value.lower()

    def number(self, key: str, least: int = 1) -> int | None:
        value = self.get(key)
        if value is None:
            return None
        if not str(value).isdigit() or int(value) < least:
            self.add(key, f"a whole number from {least} is needed. Write it as in {max(least, 10)}")
            return None
        return int(value)

    def duration(self, key: str, default: str = "") -> str:
        value = self.get(key)
        if value is None:
            return default
        if not is_duration(str(value)):
            self.add(key, "a duration is needed. Write a whole number and a unit, as in '2 d' or '12 h'")
            return default
        return str(value)

    def text(self, key: str) -> str:
        value = self.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.add(key, "a string is needed. Write it in quotes, or remove it")
            return ""
        return value or ""

    def size(self, key: str, default: int) -> int:
        value = self.get(key)
        if value is None:
            return default
        try:
            size = parse_memory_size(str(value))
        except ValueError:
            size = 0
        if size <= 0:
            self.add(key, "a size is needed. Write a number and a unit, as in '1 gb'")
        return size or default

    def flag(self, key: str, default: bool) -> bool:
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.add(key, "must be true or false. Set one of the two")
            return default
        return value

    def columns(self, key: str) -> tuple[str, ...]:
        value = self.get(key)
        names = [value] if isinstance(value, str) else value or []
        if not isinstance(names, (list, tuple)) or not all(isinstance(n, str) and n.strip() for n in names):
            self.add(key, "a column or a list of columns is needed. Write it as in ['customer_id']")
            return ()
        return tuple(part.strip() for name in names for part in name.split(",") if part.strip())


def _read_order(reader: _Reader) -> tuple[str, tuple[str, ...]]:
    order_by = reader.columns("order_by")
    order = reader.one_of("order", ORDER_STRATEGIES, "order" if order_by else "")
    if order and not order_by:
        reader.add("order", "needs order_by, the columns to sort by. Set order_by, or remove it")
    return order, order_by


def _read_compact(reader: _Reader) -> Compact:
    order, order_by = _read_order(reader)
    strategy = reader.one_of("strategy", COMPACT_STRATEGIES, "full")
    if order and strategy == "minor":
        reader.add("strategy", "sorting rewrites whole partitions. Use full, or remove order_by")
    commits = reader.number("every_commits") or 0
    # Merging needs at least two files.
    small = reader.number("small_files", least=2) or (0 if commits else SMALL_FILES)
    newest, idle, condition = _read_partitions(reader)
    if idle and order:
        reader.add("partitions", "older_than does not work with order_by. Use newest or where")
    return Compact(strategy, order, order_by, newest, idle, condition, small, commits)


def _read_partitions(reader: _Reader) -> tuple[int, str, str]:
    value = reader.get("partitions")
    if value is None:
        return 0, "", ""
    if value == "newest":
        return 1, "", ""
    example = "'newest', {'newest': 3}, {'older_than': '1 d'} or {'where': \"dt > '2024-01-01'\"}"
    if not isinstance(value, Mapping):
        reader.add("partitions", f"not understood. Write {example}")
        return 0, "", ""
    keys = ("newest", "older_than", "where")
    inner = _Reader(f"{reader.where}.partitions", value, reader.problems, keys, example)
    if sum(item is not None for item in value.values()) != 1:
        reader.add("partitions", f"one of newest, older_than and where is needed. Write {example}")
    return inner.number("newest") or 0, inner.duration("older_than"), inner.text("where")


def _read_snapshots(reader: _Reader) -> ExpireSnapshots:
    high, low = reader.number("retain_max"), reader.number("retain_min")
    age = reader.duration("older_than")
    if reader.get("retain_max") is None and reader.get("older_than") is None:
        reader.problems.add(reader.where, None, "has nothing to expire. Set retain_max, older_than, or both")
    if low is not None and high is not None and low > high:
        reader.add("retain_min", f"is above retain_max={high}. Use {high} or less")
        low = high
    if low is None:
        # If only the number is limited, that many snapshots are kept, whatever their age.
        low = high if high is not None and not age else min(RETAIN_MIN, high or RETAIN_MIN)
    return ExpireSnapshots(high, low, age)


def _read_expire_partitions(reader: _Reader) -> ExpirePartitions:
    if reader.get("expiration_time") is None:
        reader.add("expiration_time", "required. Write a number and a unit, as in '90 d'")
    return ExpirePartitions(
        reader.duration("expiration_time"),
        reader.text("timestamp_formatter"),
        reader.text("timestamp_pattern"),
        reader.one_of("expire_strategy", EXPIRE_STRATEGIES, "values-time"),
    )


def _read_orphans(reader: _Reader) -> RemoveOrphanFiles:
    age = reader.duration("older_than", ORPHAN_AGE)
    if parse_duration(age) < parse_duration(ORPHAN_AGE):
        reader.add("older_than", f"the files of a running writer may be younger. Use '{ORPHAN_AGE}' or more")
    return RemoveOrphanFiles(age)


def _read_rescale(reader: _Reader) -> Rescale:
    return Rescale(reader.size("max_bucket_size", MAX_BUCKET_SIZE))


# Action -> (its reader, an example for messages).
_READERS: Final[Mapping[str, tuple[Callable[[_Reader], Any], str]]] = {
    "compact": (_read_compact, "{'small_files': 10}"),
    "expire_snapshots": (_read_snapshots, "{'retain_max': 20}"),
    "expire_partitions": (_read_expire_partitions, "{'expiration_time': '90 d'}"),
    "remove_orphan_files": (_read_orphans, "{'older_than': '3 d'}"),
    "rescale": (_read_rescale, "{'max_bucket_size': '1 gb'}"),
}
