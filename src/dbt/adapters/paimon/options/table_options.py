"""Paimon's table options per version: names, types, allowed values, and immutability.

`paimon_options.json` lists the options of CoreOptions at 0.9, 1.4 and 2.0. Options whose names contain a column, a
class or an index type are defined here, as patterns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache, partial
from importlib.resources import files
from typing import Any, Final

from packaging.version import Version

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.capabilities.names import AGGREGATE_FUNCTIONS, FIELD_ATTRIBUTES, names_at
from dbt.adapters.paimon.capabilities.version_numbers import OPTION_CATALOGUES, as_version, options_versions, reaches
from dbt.adapters.paimon.errors.redaction import REFUSAL, is_secret_option
from dbt.adapters.paimon.options.values import value_fault

_INT_MAX: Final = 2**31 - 1
_LONG_MAX: Final = 2**63 - 1


@dataclass(frozen=True)
class OptionDefinition:
    """An option of a table, or of a column (`fields.<column>.…`)."""

    name: str
    type: str
    default: str | None = None
    values: tuple[str, ...] = ()
    immutable: bool = False
    # The first Paimon release with the option; by default that of the list in `paimon_options.json`.
    since: str = ""


# Types of the attributes in `fields.<column>.<attribute>`; the others are strings.
_FIELD_TYPES: Final[Mapping[str, str]] = {
    "aggregate-function": "AggregateFunction",
    "ignore-retract": "Boolean",
    "distinct": "Boolean",
    "count-limit": "Integer",
    "map.shared-shredding.max-columns": "Integer",
}

# Column names and attributes may contain dots: the longest known attribute at the end counts.
_FIELD_OPTION: Final = re.compile(rf"(?s)fields\.(.+?)\.({'|'.join(map(re.escape, FIELD_ATTRIBUTES))})")

# Functions that can retract the value of a '-U' or '-D' row. Source: FieldAggregator.retract, 0.9 to 2.0.
RETRACTING_FUNCTIONS: Final = frozenset(
    {"sum", "product", "collect", "merge_map", "nested_update", "last_value", "last_non_null_value"}
)

# Column setting -> the functions that read it. Source: the factories of the FieldAggregators.
FUNCTION_SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "distinct": ("collect", "listagg"),
    "list-agg-delimiter": ("listagg",),
    "nested-key": ("nested_update", "nested_partial_update"),
    "nested-key-null-strategy": ("nested_update", "nested_partial_update"),
    "nested-sequence-field": ("nested_update", "nested_partial_update"),
    "count-limit": ("nested_update",),
    "ts-field": ("merge_map_with_keytime",),
}

# FileIndexOptions: file-index.<type>.<column>.<setting of the type>
FILE_INDEX_SETTING: Final = re.compile(r"(file-index\.[\w-]+)\.([^.]+)\.([\w.-]+)")
# Options whose names cannot be listed. Sources: `commit.callback.#.param` in CoreOptions, FileIndexOptions,
# IcebergOptions, and the writer options that FileFormat passes on.
_OPEN_FAMILIES: Final = re.compile(
    r"(commit|tag)\.callback\.[^.#].*\.param"
    r"|file-index\.[\w-]+\.(columns|[^.]+\.[\w.-]+)"
    r"|(metadata\.iceberg|parquet|orc|avro|csv|json|lance|rocksdb)\.[\w.-]+"
)

# Numeric options of the file formats. Sources: RowDataParquetBuilder, OrcConf.
_LONGS: Final = "parquet.block.size orc.stripe.size orc.compress.size"
_INTEGERS: Final = (
    "parquet.page.size parquet.dictionary.page.size parquet.writer.max-padding orc.row.index.stride "
    "orc.write.batch-size"
)
_FORMAT_TYPES: Final = {**dict.fromkeys(_LONGS.split(), "Long"), **dict.fromkeys(_INTEGERS.split(), "Integer")}

# Options of Paimon's Flink connector that Spark never reads. Sources: FlinkConnectorOptions at the release tags, the
# keys of Flink's DDL, and `auto-create` of CoreOptions, which only Flink's table factory reads.
FLINK_ONLY: Final = frozenset(
    """
    connector scan.infer-parallelism scan.infer-parallelism.max scan.parallelism scan.push-down scan.partitions
    scan.remove-normalize scan.split-enumerator.batch-size scan.split-enumerator.mode scan.bounded
    scan.max-snapshot.count scan.dedicated-split-generation scan.watermark.emit.strategy scan.watermark.alignment.group
    scan.watermark.alignment.max-drift scan.watermark.alignment.update-interval scan.watermark.idle-timeout
    sink.parallelism sink.use-managed-memory-allocator sink.managed.writer-buffer-memory
    sink.cross-partition.managed-memory sink.savepoint.auto-tag sink.writer-cpu sink.writer-memory sink.committer-cpu
    sink.committer-memory sink.committer-operator-chaining sink.clustering.by-columns sink.clustering.strategy
    sink.clustering.sort-in-cluster sink.clustering.sample-factor sink.operator-uid.suffix source.operator-uid.suffix
    sink.writer-coordinator.enabled sink.writer-coordinator.cache-memory sink.writer-coordinator.page-size
    sink.writer-refresh-detectors sink.coordinator-commit.enabled sink.key-only-deletes.enabled
    source.checkpoint-align.enabled source.checkpoint-align.timeout lookup.async lookup.async-thread-number
    lookup.bootstrap-parallelism lookup.cache lookup.dynamic-partition lookup.dynamic-partition.refresh-interval
    lookup.dynamic-partition.refresh.async lookup.refresh.async lookup.refresh.async.pending-snapshot-count
    lookup.refresh.time-periods-blacklist lookup.refresh.full-load-threshold log.system log.system.partitions
    log.system.replication changelog-producer.compaction-interval unaware-bucket.compaction.parallelism
    unaware-bucket.no-shuffle compaction.bucket-distribution-strategy streaming-read.shuffle-bucket-with-partition
    read.shuffle-bucket-with-partition partition.idle-time-to-done partition.time-interval
    partition.mark-done-action.mode partition.mark-done.recover-from-state end-input.watermark precommit-compact
    changelog.precommit-compact.thread-num changelog.precommit-compact.buffer-size commit.custom-listeners
    filesystem.job-level-settings.enabled sink.writer-coordinator.cache-expire-after-access
    sink.writer-coordinator.cache-soft-values sink.writer-coordinator.prefetch-manifests auto-create
    """.split()
)

# Options that are too old for `paimon_options.json`, but that users still copy from old documentation.
REMOVED_OPTIONS: Final[Mapping[str, str]] = {
    "write-mode": "Paimon 0.6 removed it: a table without a primary key is an append table. "
    "Leave out primary_key instead",
    "first-row.ignore-delete": "it is an old name. Use 'ignore-delete'",
    "deduplicate.ignore-delete": "it is an old name. Use 'ignore-delete'",
    "partial-update.ignore-delete": "it is an old name. Use 'ignore-delete'",
    "changelog-producer.lookup-wait": "it is an old name. Use 'lookup-wait'",
    "write.compaction-skip": "it is an old name. Use 'write-only'",
    "log.scan": "it is an old name. Use 'scan.mode'",
}

# Names that Spark or the catalog sets. TBLPROPERTIES accepts them, but a model must not set them.
RESERVED_PROPERTIES: Final[Mapping[str, str]] = {
    "path": "the catalog decides where a table lives. Set `warehouse` in the profile",
    "location": "the catalog decides where a table lives. Set `warehouse` in the profile",
    "provider": "this adapter always creates Paimon tables. Remove it",
    "type": "this adapter always creates plain Paimon tables. Remove it",
    "comment": "it is written from the model's description. Use `description` with persist_docs",
    "external": "Spark sets it. Remove it",
    "owner": "Spark sets it to the user who runs dbt. Remove it",
    "is_managed_location": "Spark sets it. Remove it",
    "transient_lastDdlTime": "the metastore sets it. Remove it",
}

# Types that RowDataParquetBuilder reads, where CoreOptions declares a different type.
_TYPES: Final[Mapping[str, str]] = {"parquet.enable.dictionary": "Boolean"}


@lru_cache(maxsize=1)
def _option_lists() -> Mapping[str, Mapping[str, OptionDefinition]]:
    raw = json.loads(files("dbt.adapters.paimon.options").joinpath("paimon_options.json").read_text("utf-8"))
    return {
        key: {
            name: OptionDefinition(
                name=name,
                type=_TYPES.get(name, entry["type"]),
                default=entry["default"],
                values=tuple(entry.get("values", ())),
                immutable=name in raw[key]["immutable"],
                since=entry.get("since", key),
            )
            for name, entry in raw[key]["table"].items()
            # A name with # stands for many names, which _OPEN_FAMILIES matches.
            if "#" not in name and name not in FLINK_ONLY
        }
        for key in OPTION_CATALOGUES
    }


@lru_cache(maxsize=16)
def table_options(version: Version | str) -> Mapping[str, OptionDefinition]:
    """The table options that Paimon `version` reads, by name; raises DbtRuntimeError below Paimon 0.9.

    A release between two lists gets the options of both: it is worse to refuse an option that exists than to accept
    one that does not. An option is immutable if it is immutable in either list.
    """
    lists = [_option_lists()[key] for key in options_versions(as_version(version))]
    merged = dict(lists[-1])
    for name, definition in lists[0].items():
        newer = merged.get(name, definition)
        values = tuple(dict.fromkeys((*definition.values, *newer.values)))
        merged[name] = replace(definition, values=values, immutable=definition.immutable or newer.immutable)
    return merged


def lookup(name: str, version: Version | str) -> OptionDefinition | None:
    """The definition of an option at Paimon `version`; None if that version does not read it."""
    if definition := table_options(version).get(name):
        return definition
    if field := split_field_option(name):
        known = reaches(version, FIELD_ATTRIBUTES[field[1]])
        return OptionDefinition(name, _FIELD_TYPES.get(field[1], "String")) if known else None
    return OptionDefinition(name, _FORMAT_TYPES.get(name, "String")) if _OPEN_FAMILIES.fullmatch(name) else None


def is_immutable(name: str, version: Version | str) -> bool:
    """Whether an option is fixed when a table is created, at Paimon `version`."""
    definition = lookup(name, version)
    return bool(definition and definition.immutable)


def split_field_option(name: str) -> tuple[tuple[str, ...], str] | None:
    """Returns (('c1', 'c2'), 'sequence-group') for 'fields.c1,c2.sequence-group'; None for other names."""
    found = _FIELD_OPTION.fullmatch(name)
    return (tuple(column.strip() for column in found[1].split(",")), found[2]) if found else None


def normalize(value: Any) -> str:
    """A config value as Paimon writes it: True -> 'true', ['a', 'b'] -> 'a,b', {'0': 'avro'} -> '0:avro'."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ",".join(f"{key}:{normalize(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(normalize(item) for item in value)
    return str(value).strip()


def option_fault(name: str, value: Any, version: Version | str) -> str | None:
    """Why an option cannot have a value at Paimon `version`, as 'reason. Remedy'; None if it can."""
    if is_secret_option(name):
        return REFUSAL
    if refusal := RESERVED_PROPERTIES.get(name) or REMOVED_OPTIONS.get(name):
        return refusal
    if name in FLINK_ONLY:
        return "only Flink reads this option; on Spark it does nothing. Remove it"
    definition = lookup(name, version)
    return _value_fault(definition, value, version) if definition else _unknown(name, version)


def canonical(name: str, value: Any, version: Version | str) -> object:
    """A value in comparable form: '60 min' and '1 h' become equal, and None becomes the option's default."""
    definition = lookup(name, version)
    if value is None and definition:
        value = definition.default
    if value is None:
        return None
    text = normalize(value)
    try:
        return _PARSERS[definition.type](text) if definition else text
    except (KeyError, ValueError):
        return text


def suggestion(name: str, candidates: Iterable[str], cutoff: float = 0.75) -> str | None:
    """The candidate that `name` probably means: a different spelling (camelCase, snake_case) or a similar name."""
    spelled = {squash(candidate): candidate for candidate in candidates}
    close = get_close_matches(squash(name), spelled, n=1, cutoff=cutoff)
    return spelled[close[0]] if close else None


def did_you_mean(name: str, candidates: Iterable[str], cutoff: float = 0.75, *, label: str = "Known") -> str:
    """The hint at the end of a message: "Did you mean 'a'?", or the list of all candidates."""
    known = list(candidates)
    near = suggestion(name, known, cutoff)
    return f"Did you mean '{near}'?" if near else f"{label}: {', '.join(known)}"


def squash(name: str) -> str:
    """A name in lower case without separators: the same for 'bucketKey', 'bucket_key' and 'bucket-key'."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _unknown(name: str, version: Version | str) -> str:
    if name.startswith("fields."):
        return _unknown_field_option(name, version)
    for key in OPTION_CATALOGUES:
        if definition := _option_lists()[key].get(name):
            if reaches(version, key):
                return f"Paimon {version} no longer has it; {key} did. Remove it"
            return f"needs Paimon >= {definition.since}, this is {version}. Remove it or set paimon_version"
    if near := suggestion(name, table_options(version)):
        return f"unknown option. Did you mean '{near}'?"
    if newer := suggestion(name, (other for key in OPTION_CATALOGUES for other in _option_lists()[key])):
        return f"unknown option. Did you mean '{newer}'? Paimon {version} does not have that one either"
    return f"Paimon {version} has no such table option. Remove it; Paimon would accept it and do nothing"


def _unknown_field_option(name: str, version: Version | str) -> str:
    if field := split_field_option(name):
        since = FIELD_ATTRIBUTES[field[1]]
        return f"needs Paimon >= {since}, this is {version}. Remove it or set paimon_version"
    near = suggestion(name.rsplit(".", 1)[-1], FIELD_ATTRIBUTES)
    known = names_at(FIELD_ATTRIBUTES, version)
    hint = f"Did you mean '{near}'? " if near else ""
    return f"unknown field attribute. {hint}Known: fields.<column>. with {', '.join(known)}"


def check_aggregate_function(name: str, version: Version | str) -> str | None:
    """Why an aggregate function cannot be used at Paimon `version`; None if it can."""
    known = names_at(AGGREGATE_FUNCTIONS, version)
    if name in known:
        return None
    if name in AGGREGATE_FUNCTIONS:
        return f"needs Paimon >= {AGGREGATE_FUNCTIONS[name]}, this is {version}. Known: {', '.join(known)}"
    if name == "count":
        return "Paimon has no count. Write `1 as n` in the model and aggregate it with 'sum'"
    return f"unknown aggregate function. {did_you_mean(name, known, 0.6)}"


def _value_fault(definition: OptionDefinition, value: Any, version: Version | str) -> str | None:
    if isinstance(value, Mapping) and definition.type != "Map":
        return f"a {definition.type} is needed, not a mapping. Write one value"
    text = normalize(value)
    if definition.type == "AggregateFunction" or definition.name == "fields.default-aggregate-function":
        return check_aggregate_function(text, version)
    if definition.name.startswith("fields.") and definition.name.endswith(".default-value"):
        return Versions.of(version).explain(Capability.FIELD_DEFAULT_VALUE) or None
    if definition.type == "Enum":
        return _word_fault(definition, text)
    if not _is_parsed(definition, text):
        return f"not {_example(definition)}"
    return value_fault(definition.name, text, as_version(version))


def _word_fault(definition: OptionDefinition, text: str) -> str | None:
    if text.lower() in {allowed.lower() for allowed in definition.values}:
        return None
    near = suggestion(text, definition.values)
    hint = f"Did you mean '{near}'? " if near else ""
    # Do not suggest 'async', which a rule of `spec.components.retention` refuses.
    advised = [value for value in definition.values if (definition.name, value) != _BACKGROUND]
    return f"not an allowed value. {hint}Allowed: {', '.join(advised)}"


def _is_parsed(definition: OptionDefinition, text: str) -> bool:
    # paimon_options.json writes 'infinite' for maximum values, but Paimon itself cannot parse that word.
    if text == "infinite" and definition.type != "String":
        return False
    try:
        _PARSERS.get(definition.type, str)(text)
    except ValueError:
        return False
    return True


def _example(definition: OptionDefinition) -> str:
    if definition.type == "Integer":
        return f"a whole number (32 bits). Write it as in {_WHOLE_NUMBERS.get(definition.name, 20)}"
    if definition.type != "Map":
        return _EXAMPLES[definition.type]
    return f"a list of pairs. Write it as in '{_PAIRS[definition.name]}'"


# These parsers follow Paimon's OptionsUtils, TimeUtils and MemorySize (0.9.0). They raise ValueError.


def _whole(text: str) -> int:
    # int() would also accept '1_000' and digits of other scripts.
    if re.fullmatch(r"[+-]?[0-9]+", text) is None:
        raise ValueError(text)
    return int(text)


def _integer(text: str, largest: int = _INT_MAX) -> int:
    number = largest if text == "infinite" else _whole(text)
    if not -largest - 1 <= number <= largest:
        raise ValueError(text)
    return number


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _units(table: Mapping[str, int]) -> Mapping[str, int]:
    return {label: factor for labels, factor in table.items() for label in labels.split()}


# Nanoseconds, so that every unit is a whole number.
_DURATION_UNITS: Final = _units(
    {
        "d day days": 86_400 * 10**9,
        "h hour hours": 3_600 * 10**9,
        "min m minute minutes": 60 * 10**9,
        "s sec secs second seconds": 10**9,
        "ms milli millis millisecond milliseconds": 10**6,
        "µs micro micros microsecond microseconds": 10**3,
        "ns nano nanos nanosecond nanoseconds": 1,
    }
)
_MEMORY_UNITS: Final = _units(
    {"b bytes": 1, "k kb kibibytes": 2**10, "m mb mebibytes": 2**20, "g gb gibibytes": 2**30, "t tb tebibytes": 2**40}
)


def _quantity(text: str, units: Mapping[str, int], bare: int) -> int:
    match = re.fullmatch(r"([0-9]+)\s*(\D*)", text.strip())
    if match is None:
        raise ValueError(text)
    number, unit = int(match[1]), match[2].strip().lower()
    if number > _LONG_MAX or (unit and unit not in units):
        raise ValueError(text)
    return number * (units[unit] if unit else bare)


def parse_duration(text: str) -> int:
    """The nanoseconds in '1 h', '30min' or '100' (milliseconds); raises ValueError. Source: TimeUtils."""
    return _quantity(text, _DURATION_UNITS, bare=10**6)


def is_duration(text: str) -> bool:
    """Whether Paimon can read a duration."""
    try:
        parse_duration(text)
    except ValueError:
        return False
    return True


def is_age(value: object) -> bool:
    """Whether a value is a duration with a unit. Paimon reads `30` as 30 ms, so a policy in days would expire all."""
    return is_duration(str(value)) and not str(value).strip().isdecimal()


def parse_memory_size(text: str) -> int:
    """The bytes in '128 mb', '1 gb' or '100' (bytes); raises ValueError. Source: MemorySize."""
    return _LONG_MAX if text == "infinite" else _quantity(text, _MEMORY_UNITS, bare=1)


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    pairs = [item.split(":") for item in text.split(",") if item.strip()]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(text)
    return frozenset((key.strip(), item.strip()) for key, item in pairs)


_PARSERS: Final[Mapping[str, Callable[[str], object]]] = {
    "Integer": _integer,
    "Long": partial(_integer, largest=_LONG_MAX),
    "Boolean": _boolean,
    "Float": float,
    "Double": float,
    "Duration": parse_duration,
    "MemorySize": parse_memory_size,
    "Map": _pairs,
    "Enum": str.lower,
    "String": str,
}

_BACKGROUND: Final = ("snapshot.expire.execution-mode", "async")

# Examples for options for which 20 is too small.
_WHOLE_NUMBERS: Final[Mapping[str, int]] = {"parquet.page.size": 2**20, "parquet.dictionary.page.size": 2**20}

# Examples of settings by level.
_PAIRS: Final[Mapping[str, str]] = {
    "file.format.per.level": "0:avro,5:parquet",
    "file.compression.per.level": "0:lz4,5:zstd",
    "metadata.stats-mode.per.level": "0:none,5:full",
}

_EXAMPLES: Final[Mapping[str, str]] = {
    "Long": "a whole number. Write it as in 2000000",
    "Boolean": "a boolean. Write true or false",
    "Float": "a number. Write it as in 0.75",
    "Double": "a number. Write it as in 0.05",
    "Duration": "a duration. Write a whole number and a unit, as in '1 h', '30 min' or '7 d'",
    "MemorySize": "a size. Write a whole number and a unit, as in '128 mb' or '1 gb'",
}
