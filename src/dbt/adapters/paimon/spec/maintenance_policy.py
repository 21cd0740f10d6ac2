"""Turns a model's `maintenance` config into a `MaintenancePolicy`; `maintenance.due` decides what is due."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from dbt.adapters.paimon.config_keys import BOOLEAN, COLUMNS, DURATION, NUMBER, Key, key_field, keys_of
from dbt.adapters.paimon.options.table_options import is_age, parse_duration, parse_memory_size, suggestion
from dbt.adapters.paimon.options.values import split_columns
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.sql.procedures import COMPACT_STRATEGIES, EXPIRE_STRATEGIES, ORDER_STRATEGIES

# A bucket with this many small files is due for compaction, unless the policy sets another number.
SMALL_FILES: Final = 10
# Paimon's default (CoreOptions.SNAPSHOT_NUM_RETAINED_MIN).
RETAIN_MIN: Final = 10
# OrphanFilesClean.olderThanMillis: younger files may belong to a writer that has yet to commit.
ORPHAN_AGE: Final = "1 d"
ON_FAILURE: Final = ("warn", "error")
# Twice the recommended maximum (auto_buckets.MOST_BYTES).
MAX_BUCKET_SIZE: Final = 2 * 2**30


_AFTER_RUN: Final = "Whether a run does this after its commit; otherwise only `maintain` does"
_SIZE: Final = "a size, as in `'1 gb'`"


@dataclass(frozen=True)
class Compact:
    """Merge data files if a bucket has `small_files` small files, or after `every_commits` commits (0: not checked).

    At most one of `newest` (number of partitions), `idle` (partitions not written for this time) and `where` is set.
    """

    strategy: str = key_field(
        "full",
        "`full` merges all levels of a bucket; `minor`, from Paimon 1.0, those that Paimon's own trigger would",
        values=COMPACT_STRATEGIES,
        default="`full`",
    )
    order: str = key_field(
        "",
        "The order in which `order_by` sorts the rows of an append table",
        values=ORDER_STRATEGIES,
        default="`order` with `order_by`",
    )
    order_by: tuple[str, ...] = key_field((), "The columns by which the rows are sorted while merging", COLUMNS)
    newest: int = 0
    idle: str = ""
    where: str = ""
    small_files: int = key_field(
        SMALL_FILES,
        "Due when a bucket has this many files smaller than 70 % of `target-file-size` (by default 128 MB, "
        "without a primary key 256 MB)",
        NUMBER,
        default=f"`{SMALL_FILES}`, without `every_commits`",
    )
    every_commits: int = key_field(
        0, "Due after this many commits since the last compaction; those of writes do not count", NUMBER
    )
    after_run: bool = key_field(True, _AFTER_RUN, BOOLEAN, default="`true`")


@dataclass(frozen=True)
class ExpireSnapshots:
    """Expire table snapshots beyond the newest `retain_max`, or older than `older_than`; keep at least `retain_min`."""

    retain_max: int | None = key_field(
        None, "How many table snapshots are kept at most; this or `older_than` is required", NUMBER
    )
    retain_min: int = key_field(
        RETAIN_MIN,
        "How many are kept at any age",
        NUMBER,
        default=f"`{RETAIN_MIN}`, or `retain_max` without `older_than`",
    )
    older_than: str = key_field("", "How old a table snapshot may get", DURATION)
    after_run: bool = key_field(True, _AFTER_RUN, BOOLEAN, default="`true`")

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

    expiration_time: str = key_field("", "How old a partition may get", DURATION, default="required")
    timestamp_formatter: str = key_field(
        "", "The pattern by which a partition's value is read as a time", "a Java pattern"
    )
    timestamp_pattern: str = key_field(
        "",
        "How the partition columns are combined into that value",
        "text, as in `$day $hour:00:00`",
        default="the first column",
    )
    expire_strategy: str = key_field(
        "values-time",
        "Whether a partition's age is computed from its value or from its last write",
        values=EXPIRE_STRATEGIES,
        default="`values-time`",
    )
    after_run: bool = key_field(True, _AFTER_RUN, BOOLEAN, default="`true`")


@dataclass(frozen=True)
class RemoveOrphanFiles:
    """Delete orphan files. This lists the table's whole folder, so runs do it only with `after_run`."""

    older_than: str = key_field(
        ORPHAN_AGE, "How old a file must be, at least one day", DURATION, default=f"`{ORPHAN_AGE}`"
    )
    after_run: bool = key_field(False, _AFTER_RUN, BOOLEAN, default="`false`: it lists the table's whole folder")


@dataclass(frozen=True)
class Rescale:
    """Give a table with `bucket: auto` more buckets if a bucket exceeds `max_bucket_size` bytes.

    This rewrites all rows, so runs do it only with `after_run`.
    """

    max_bucket_size: int = key_field(
        MAX_BUCKET_SIZE, "A table with `bucket: auto` gets more buckets when one is larger", _SIZE, default="`2 gb`"
    )
    after_run: bool = key_field(False, _AFTER_RUN, BOOLEAN, default="`false`: it rewrites all rows")


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


_KINDS: Final[Mapping[str, type]] = {
    "compact": Compact,
    "expire_snapshots": ExpireSnapshots,
    "expire_partitions": ExpirePartitions,
    "remove_orphan_files": RemoveOrphanFiles,
    "rescale": Rescale,
}
ACTIONS: Final = tuple(_KINDS)
# Action -> its keys.
ACTION_KEYS: Final = {name: keys_of(kind) for name, kind in _KINDS.items()}
ACTION_KEYS["compact"]["partitions"] = Key(
    "Only these partitions: the newest by value, those not written lately, or those that meet a condition",
    "`newest`, `{newest: 3}`, `{older_than: '1 d'}` or `{where: \"dt > '2024-01-01'\"}`",
    default="all",
)
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
    """The policy in a model's config, or None; if it adds any `problems`, do not use the policy."""
    if value is None or value == {}:
        return None
    top = _Reader("maintenance", value, problems, (*ACTIONS, *POLICY_KEYS), "{'compact': {'small_files': 10}}")
    own = top.read(POLICY_KEYS)
    if own.get("enabled") is False:
        return None
    actions: dict[str, Any] = {}
    for name, kind in _KINDS.items():
        given, (example, checked) = top.values.get(name), _READERS[name]
        # null and false remove an action that dbt_project.yml sets for a folder; true means all defaults.
        if given is None or given is False:
            continue
        reader = _Reader(f"maintenance.{name}", {} if given is True else given, problems, ACTION_KEYS[name], example)
        actions[name] = checked(reader, kind(**reader.read(keys_of(kind))))
    return MaintenancePolicy(**actions, on_failure=own.get("on_failure", "warn"))


class _Reader:
    """Reads the keys of one mapping, and reports unknown keys."""

    def __init__(self, where: str, value: Any, problems: Problems, keys: Collection[str], example: str) -> None:
        self.where, self.problems = where, problems
        given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        if not isinstance(value, Mapping):
            problems.add(where, value, f"a mapping is needed. Write it as in {example}")
        problems.add_unknown(where, given, keys)
        self.values = {key: item for key, item in given.items() if item is not None}

    def add(self, key: str, reason: str) -> None:
        self.problems.add(f"{self.where}.{key}", self.values.get(key), reason)

    def read(self, keys: Mapping[str, Key]) -> dict[str, Any]:
        """The given and valid values of some keys; adds a problem for each invalid value."""
        given = {name: key for name, key in keys.items() if name in self.values}
        parsed = {name: self._parsed(name, self.values[name], key) for name, key in given.items()}
        return {name: value for name, value in parsed.items() if value is not None}

    def _parsed(self, name: str, value: Any, key: Key) -> Any:
        if key.values:
            if isinstance(value, str) and value.lower() in key.values:
                return value.lower()
            near = suggestion(str(value), key.values, cutoff=0.6)
            self.add(name, f"Did you mean '{near}'?" if near else f"not allowed. Use {' or '.join(key.values)}")
            return None
        parse, needed = _PARSERS.get(key.takes, _TEXT)
        parsed = parse(value)
        if parsed is None:
            self.add(name, needed)
        return parsed


def _columns(value: Any) -> tuple[str, ...] | None:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) and name.strip() for name in names):
        return None
    return tuple(column for name in names for column in split_columns(name))


def _number(value: Any) -> int | None:
    return int(value) or None if str(value).isdecimal() else None


def _size(value: Any) -> int | None:
    try:
        return parse_memory_size(str(value)) or None
    except ValueError:
        return None


# What a key takes -> (a function that returns the value, or None if it is invalid; what is needed and the remedy).
_PARSERS: Final[Mapping[str, tuple[Callable[[Any], Any], str]]] = {
    NUMBER: (
        _number,
        "a whole number from 1 is needed. Write it as in 10",
    ),
    DURATION: (
        lambda value: str(value) if is_age(value) else None,
        "a duration is needed. Write a whole number and a unit, as in '2 d' or '12 h'",
    ),
    COLUMNS: (_columns, "a column or a list of columns is needed. Write it as in ['customer_id']"),
    BOOLEAN: (
        lambda value: value if isinstance(value, bool) else None,
        "true or false is needed. Set one of the two",
    ),
    _SIZE: (_size, "a size is needed. Write a number and a unit, as in '1 gb'"),
}
_TEXT: Final = (
    lambda value: value if isinstance(value, str) and value.strip() else None,
    "a string is needed. Write it in quotes, or remove it",
)


def _checked_compact(reader: _Reader, action: Compact) -> Compact:
    order = action.order or ("order" if action.order_by else "")
    # If only `every_commits` is given, small files are not counted.
    by_commits = action.every_commits and "small_files" not in reader.values
    small_files = 0 if by_commits else action.small_files
    partitions = _read_partitions(reader)
    faults = (
        ("order", order and not action.order_by, "needs order_by, the columns to sort by. Set order_by, or remove it"),
        (
            "strategy",
            order and action.strategy == "minor",
            "sorting rewrites whole partitions. Use full, or remove order_by",
        ),
        ("small_files", small_files == 1, "a whole number from 2 is needed. Write it as in 10"),
        ("partitions", order and "idle" in partitions, "older_than does not work with order_by. Use newest or where"),
    )
    for key, is_wrong, reason in faults:
        if is_wrong:
            reader.add(key, reason)
    return replace(action, order=order, small_files=small_files, **partitions)


def _read_partitions(reader: _Reader) -> dict[str, Any]:
    value = reader.values.get("partitions")
    if value is None:
        return {}
    if value == "newest":
        return {"newest": 1}
    example = "'newest', {'newest': 3}, {'older_than': '1 d'} or {'where': \"dt > '2024-01-01'\"}"
    if not isinstance(value, Mapping):
        reader.add("partitions", f"not understood. Write {example}")
        return {}
    keys = {"newest": Key("", NUMBER), "older_than": Key("", DURATION), "where": Key("")}
    inner = _Reader(f"{reader.where}.partitions", value, reader.problems, keys, example)
    if len(inner.values) != 1:
        reader.add("partitions", f"one of newest, older_than and where is needed. Write {example}")
    return {"idle" if name == "older_than" else name: item for name, item in inner.read(keys).items()}


def _checked_snapshots(reader: _Reader, action: ExpireSnapshots) -> ExpireSnapshots:
    high, low = action.retain_max, action.retain_min
    if reader.values.keys().isdisjoint(("retain_max", "older_than")):
        reader.problems.add(reader.where, None, "has nothing to expire. Set retain_max, older_than, or both")
    if _number(reader.values.get("retain_min")) is None:
        # Not given, or invalid. If only the number is limited, that many snapshots are kept, whatever their age.
        low = high if high is not None and not action.older_than else min(RETAIN_MIN, high or RETAIN_MIN)
    elif high is not None and low > high:
        reader.add("retain_min", f"is above retain_max={high}. Use {high} or less")
        low = high
    return replace(action, retain_min=low)


def _checked_partitions(reader: _Reader, action: ExpirePartitions) -> ExpirePartitions:
    if "expiration_time" not in reader.values:
        reader.add("expiration_time", "required. Write a number and a unit, as in '90 d'")
    return action


def _checked_orphans(reader: _Reader, action: RemoveOrphanFiles) -> RemoveOrphanFiles:
    if parse_duration(action.older_than) < parse_duration(ORPHAN_AGE):
        reader.add("older_than", f"the files of a running writer may be younger. Use '{ORPHAN_AGE}' or more")
    return action


# Action -> (an example for messages, a function that checks the action and adds its defaults).
_READERS: Final[Mapping[str, tuple[str, Callable[[_Reader, Any], Any]]]] = {
    "compact": ("{'small_files': 10}", _checked_compact),
    "expire_snapshots": ("{'retain_max': 20}", _checked_snapshots),
    "expire_partitions": ("{'expiration_time': '90 d'}", _checked_partitions),
    "remove_orphan_files": ("{'older_than': '3 d'}", _checked_orphans),
    "rescale": ("{'max_bucket_size': '1 gb'}", lambda reader, action: action),
}
