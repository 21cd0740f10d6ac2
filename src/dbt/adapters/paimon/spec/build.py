"""Builds a `TableSpec` from a model's config and contract, before any SQL runs.

Each key is checked here, and the whole table by `rules`; all problems are reported at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.capabilities import FIELD_ATTRIBUTES, OLDEST_PAIMON, Capability, names_at
from dbt.adapters.paimon.errors.dialects import declared_type_remedy
from dbt.adapters.paimon.keys import Key
from dbt.adapters.paimon.options.read_options import read_fault
from dbt.adapters.paimon.options.table_options import (
    canonical,
    did_you_mean,
    normalize,
    split_field_option,
    squash,
    suggestion,
    table_options,
    validate_option,
)
from dbt.adapters.paimon.options.values import split_columns
from dbt.adapters.paimon.spec import bucket_numbers, iceberg, run_tag, safeguards, skipping
from dbt.adapters.paimon.spec.config import VIEW_KEYS
from dbt.adapters.paimon.spec.foreign_config import (
    NoColumnError,
    is_foreign,
    is_table_format,
    partition_column,
    refusals,
)
from dbt.adapters.paimon.spec.maintenance_policy import read_policy
from dbt.adapters.paimon.spec.maintenance_rules import policy_rules
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.rules import RULES, UNREAD_RULES
from dbt.adapters.paimon.spec.spelling import doubled_options, named_columns, one_spelling
from dbt.adapters.paimon.spec.table import DEFAULT_MERGE_ENGINE, TableSpec

if TYPE_CHECKING:
    from dbt.adapters.paimon.capabilities import Versions


# Config key -> Paimon option.
OPTION_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bucket": "bucket",
        "bucket_key": "bucket-key",
        "merge_engine": "merge-engine",
        "sequence_field": "sequence.field",
        "changelog_producer": "changelog-producer",
        "rowkind_field": "rowkind.field",
        "file_format": "file.format",
        "deletion_vectors": "deletion-vectors.enabled",
    }
)
RETENTION_KEYS: Final[Mapping[str, Key]] = MappingProxyType(
    {
        "num_retained_min": Key("How many stay, however old they are", option="snapshot.num-retained.min"),
        "num_retained_max": Key("How many stay at most", option="snapshot.num-retained.max"),
        "time_retained": Key("How long one stays", option="snapshot.time-retained"),
    }
)
AUTO_TAG_KEYS: Final[Mapping[str, Key]] = MappingProxyType(
    {
        "creation": Key(
            "Which clock ends a period; on Spark `process-time`, and from Paimon 1.1 `batch`, a tag a run",
            option="tag.automatic-creation",
        ),
        "period": Key("How often", option="tag.creation-period"),
        "delay": Key("How long after a period's end its tag is made", option="tag.creation-delay"),
        "formatter": Key("How the period is written in the tag's name", option="tag.period-formatter"),
        "num_retained_max": Key("How many automatic tags stay at most", option="tag.num-retained-max"),
        "time_retained": Key("How long a tag stays", option="tag.default-time-retained"),
    }
)
DYNAMIC_BUCKET_KEYS: Final[Mapping[str, Key]] = MappingProxyType(
    {
        "target_row_num": Key(
            "Keys per bucket: new keys go to a new one above that", option="dynamic-bucket.target-row-num"
        ),
        "initial_buckets": Key(
            "How many buckets are filled in parallel at first; never more than tasks write",
            default="one a task",
            option="dynamic-bucket.initial-buckets",
        ),
        "max_buckets": Key(
            "The most buckets, whatever the target; from Paimon 1.1", option="dynamic-bucket.max-buckets"
        ),
        "assigner_parallelism": Key(
            "Tasks that assign buckets", option="dynamic-bucket.assigner-parallelism"
        ),
    }
)
POSTPONE_BUCKET_KEYS: Final[Mapping[str, Key]] = MappingProxyType(
    {
        "batch_write_fixed_bucket": Key(
            "Whether Spark writes to real buckets at once; otherwise rows wait for a compaction",
            option="postpone.batch-write-fixed-bucket",
        ),
        "default_bucket_num": Key(
            "Buckets per partition that a compaction makes", option="postpone.default-bucket-num"
        ),
        "max_parallelism": Key(
            "The most buckets that a direct write makes",
            option="postpone.batch-write-fixed-bucket.max-parallelism",
        ),
    }
)
# Config keys that are a mapping of such keys -> (the keys, an example).
GROUPED_KEYS: Final[Mapping[str, tuple[Mapping[str, Key], str]]] = MappingProxyType(
    {
        "snapshot_retention": (RETENTION_KEYS, "{'num_retained_max': 20}"),
        "auto_tags": (AUTO_TAG_KEYS, "{'creation': 'process-time', 'period': 'daily'}"),
        "dynamic_bucket": (DYNAMIC_BUCKET_KEYS, "{'target_row_num': 2000000}"),
        "postpone_bucket": (POSTPONE_BUCKET_KEYS, "{'batch_write_fixed_bucket': false}"),
    }
)
TABLE_KEYS: Final = (
    "primary_key",
    "partition_by",
    *OPTION_KEYS,
    "fields",
    *GROUPED_KEYS,
    "table_tag",
    "wap",
    iceberg.KEY,
    "compact_after_build",
    *safeguards.KEYS,
    skipping.KEY,
    "tblproperties",
    "maintenance",
)
STRATEGY_KEYS: Final = (
    "merge_update_columns",
    "merge_exclude_columns",
    "matched_condition",
    "not_matched_condition",
    "merge_delete_condition",
    "incremental_predicates",
)

# Keys that dbt-core and its materializations read; they are not reported as misspelt.
_DBT_KEYS: Final = frozenset(
    """
    access alias batch_size begin catalog_name check_cols column_types concurrent_batches contract
    database dbt_valid_to_current delimiter deprecation_date docs enabled error_if event_time
    fail_calc freshness full_refresh grants group hard_deletes incremental_strategy
    invalidate_hard_deletes limit lookback materialized meta on_configuration_change on_error
    on_schema_change packages persist_docs post_hook post-hook pre_hook pre-hook quote_columns
    quoting schema severity snapshot_meta_column_names snapshot_name sql_header static_analysis
    store_failures store_failures_as strategy table_format tags target_database target_schema
    target_schemas unique_key updated_at warn_if where
    loaded_at_field loaded_at_query adapter_properties submission_method
    """.split()
)

# dbt's keys that decide which rows are written. A misspelt one would silently give other rows.
_DECIDING_KEYS: Final = (
    "unique_key",
    "incremental_strategy",
    "on_schema_change",
    "event_time",
    "batch_size",
    "full_refresh",
    "check_cols",
    "hard_deletes",
)

# Common names that are not similar enough for `suggestion`.
_ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tableproperties": "tblproperties",
        "partitionkeys": "partition_by",
        "numbuckets": "bucket",
        "mergecondition": "matched_condition",
    }
)

_FIELD_ATTRIBUTES: Final = {squash(name): name for name in FIELD_ATTRIBUTES}

# Options whose value is a list of columns.
_COLUMN_LISTS: Final = frozenset({"bucket-key", "sequence.field"})

# A column name in an option's value, where Paimon splits at commas.
_COLUMN_NAME: Final = re.compile(r"[^,`\s][^,`]*")


def build_table_spec(
    config: Mapping[str, Any],
    *,
    model: str,
    constraints: Sequence[Mapping[str, Any]] = (),
    columns: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    versions: Versions,
    passes: Callable[[str], None] | None = None,
) -> TableSpec:
    """The table of a model's config and contract; ConfigErrors has all problems at once.

    `constraints` and `columns` are those of the model's YAML, which count if the contract is enforced. `passes` gets
    warnings about keys that nothing reads (see `Problems`).
    """
    problems = Problems(model, passes=passes)
    spec = collect_table_spec(
        config, problems=problems, constraints=constraints, columns=columns, versions=versions
    )
    problems.raise_if_any()
    return spec


def collect_table_spec(
    config: Mapping[str, Any],
    *,
    problems: Problems,
    constraints: Sequence[Mapping[str, Any]] = (),
    columns: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    versions: Versions,
) -> TableSpec:
    """Like `build_table_spec`, but adds to `problems`; if there are any, the returned spec must not be used."""
    _check_key_names(config, problems, versions)
    properties = _tblproperties(config, problems)
    primary_key = _own_or_property(config, properties, "primary_key", "primary-key", problems)
    partition_by = _own_or_property(config, properties, "partition_by", "partition", problems)
    contracted = contract_enforced(config)
    _check_types(config, columns if contracted else {}, problems)
    if contracted:
        primary_key = _with_contract(primary_key, constraints, columns, problems)

    options = _options(config, properties, problems, versions)
    engine = options.get("merge-engine", DEFAULT_MERGE_ENGINE) if primary_key else ""
    tag = run_tag.read(config.get("table_tag"), problems)
    wap = _wap(config, options, problems, versions)
    policy = read_policy(config.get("maintenance"), problems)
    compacts = _compact_after_build(config, problems)
    safeguards.check(config, problems)
    skipping.check(config, problems)
    iceberg.read(config, options, problems)
    auto = _auto_buckets(config, options, problems)
    spec = TableSpec(
        primary_key, partition_by, MappingProxyType(options), engine, tag, wap, policy, compacts, auto
    )
    spec = iceberg.with_compaction(spec)
    spec = _with_policy(spec, problems, versions)
    for name, other in doubled_options(options):
        problems.add(name, options[name], f"'{other}' sets it, too. Keep one of the two")
    if not versions.case_sensitive:
        spec = one_spelling(spec)

    origin = ConfigOrigin(config)
    for rule in RULES:
        for name, reason in rule(spec, versions):
            problems.add(*origin.find(name, spec), reason)
    for rule in UNREAD_RULES:
        for name, reason in rule(spec, versions):
            problems.add_ignored(*origin.find(name, spec), reason)
    for name, reason in _outside_contract(spec, columns, versions) if contracted and columns else ():
        problems.add(*origin.find(name, spec), reason)
    return spec


def _with_policy(spec: TableSpec, problems: Problems, versions: Versions) -> TableSpec:
    policy = spec.maintenance
    if policy is None:
        return spec
    for key, reason in policy_rules(policy, spec, versions):
        problems.add(key, None, reason)
    if policy.expire_snapshots is None:
        return spec
    # Paimon also expires snapshots at each commit, by the table's options.
    return replace(spec, options=MappingProxyType({**policy.expire_snapshots.options, **spec.options}))


def _outside_contract(
    spec: TableSpec, columns: Mapping[str, Any], versions: Versions
) -> Iterator[tuple[str, str]]:
    """Columns that the config names and the contract does not have; in the form of a rule of `rules`."""
    known = set(columns) if versions.case_sensitive else {name.lower() for name in columns}
    for name, column in named_columns(spec):
        if (column if versions.case_sensitive else column.lower()) not in known:
            hint = did_you_mean(column, columns, label="Its columns")
            yield name, f"the contract has no column '{column}'. {hint}"


def _check_types(
    config: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]], problems: Problems
) -> None:
    # Types that Spark cannot declare.
    given = config.get("column_types")
    of_seed = given if isinstance(given, Mapping) else {}
    types = {f"column_types.{name}": kind for name, kind in of_seed.items()}
    types |= {f"columns.{name}.data_type": column.get("data_type") for name, column in columns.items()}
    for key, kind in types.items():
        if remedy := declared_type_remedy(str(kind or "")):
            problems.add(key, kind, remedy)


def _wap(
    config: Mapping[str, Any], options: Mapping[str, str], problems: Problems, versions: Versions
) -> bool:
    """Whether rows are audited on a branch before they are published (write-audit-publish)."""
    value, strategy = config.get("wap"), config.get("incremental_strategy")
    if value is None or str(value).lower() == "false":
        return False
    if str(value).lower() != "true":
        problems.add("wap", value, "true or false is needed. Write it without quotes")
    elif config.get("materialized") in ("seed", "snapshot"):
        problems.add(
            "wap", value, f"a {config['materialized']} cannot be audited before its commit. Use it on models"
        )
    elif strategy in ("microbatch", "apply_changes"):
        problems.add(
            "wap",
            value,
            f"does not work with incremental_strategy='{strategy}'. Use upsert, merge, "
            "insert_overwrite, delete+insert or append",
        )
    elif missing := versions.explain(Capability.BRANCHES):
        problems.add("wap", value, missing)
    if options.get("bucket") == "-2":
        problems.add(
            "wap",
            True,
            "rows of postpone buckets cannot be audited before they are compacted. Use other buckets, or remove it",
        )
    return True


def _is_auto(bucket: Any) -> bool:
    return isinstance(bucket, str) and bucket.strip().lower() == bucket_numbers.AUTO


def _auto_buckets(config: Mapping[str, Any], options: Mapping[str, str], problems: Problems) -> bool:
    if not _is_auto(config.get("bucket")):
        return False
    for name in options:
        if name == "bucket" or name.startswith(("dynamic-bucket.", "postpone.")):
            problems.add("bucket", config["bucket"], f"'{name}' is set, too. Keep one of the two")
    return True


def _compact_after_build(config: Mapping[str, Any], problems: Problems) -> bool:
    value = config.get("compact_after_build")
    if value is not None and str(value).lower() not in ("true", "false"):
        problems.add("compact_after_build", value, "true or false is needed. Write it without quotes")
    return str(value).lower() != "false"


def contract_enforced(config: Mapping[str, Any]) -> bool:
    """Whether the model's contract is enforced; `contract` is a mapping or dbt's own object."""
    contract = config.get("contract")
    if isinstance(contract, Mapping):
        return bool(contract.get("enforced"))
    return bool(getattr(contract, "enforced", False))


def column_list(value: Any) -> tuple[str, ...]:
    """The columns in a config value: 'a', 'a, b', ['a', 'b'] or None. An expression, 'concat(a, b)', stays whole."""
    if value is None:
        return ()
    items = map(str, value if isinstance(value, (list, tuple)) else [value])
    return tuple(part for item in items for part in ([item] if "(" in item else split_columns(item)))


def _check_key_names(config: Mapping[str, Any], problems: Problems, versions: Versions) -> None:
    """Report keys of other adapters, misspelt keys of ours, and Paimon options outside `tblproperties`."""
    ours = (*TABLE_KEYS, *STRATEGY_KEYS, *VIEW_KEYS)
    known_options = {
        squash(name): name
        for name in table_options(versions.paimon)
        if re.search(r"[-.]", name) and name not in OPTION_KEYS.values()
    }
    for key, reason in refusals(config):
        problems.add_ignored(key, config[key], reason)
    for key, value in config.items():
        if value is None or key in ours or key in _DBT_KEYS or is_foreign(key):
            continue
        if near := _meant_key(key, ours):
            problems.add(key, value, f"unknown config key. Did you mean '{near}'?")
        elif option := known_options.get(squash(key)):
            problems.add(key, value, f"a Paimon option, not a config key. Put '{option}' into tblproperties")


def _meant_key(key: str, ours: Iterable[str]) -> str | None:
    """The config key that an unknown one probably means: an alias, a similar key, or the key of Paimon's option."""
    by_option = {squash(option): own for own, option in OPTION_KEYS.items()}
    return (
        _ALIASES.get(squash(key))
        or suggestion(key, ours, cutoff=0.85)
        or suggestion(key, _DECIDING_KEYS, cutoff=0.9)
        or by_option.get(squash(key))
    )


def _tblproperties(config: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    properties = config.get("tblproperties")
    if properties is None:
        return {}
    if not isinstance(properties, Mapping):
        problems.add(
            "tblproperties",
            properties,
            "a mapping of option names to values is needed. Write it as in {'write-only': true}",
        )
        return {}
    # null removes an option that a folder has set.
    return {str(name).strip(): value for name, value in properties.items() if value is not None}


def _own_or_property(
    config: Mapping[str, Any], properties: dict[str, Any], key: str, option: str, problems: Problems
) -> tuple[str, ...]:
    """The columns of `key`, or of the same option in tblproperties, which is removed there."""
    own = _columns(config.get(key), key, problems)
    if option not in properties:
        return own
    value = properties.pop(option)
    other = _columns(value, f"tblproperties['{option}']", problems)
    if own and other and list(map(str.lower, own)) != list(map(str.lower, other)):
        problems.add(
            key, list(own), f"tblproperties sets '{option}'='{','.join(other)}'. Keep one of the two"
        )
    return own or other


def _columns(value: Any, key: str, problems: Problems) -> tuple[str, ...]:
    if value is None:
        return ()
    if key == "partition_by":
        try:
            value = _partition_columns(value)
        except NoColumnError as exc:
            problems.add_ignored(key, value, str(exc))
            return ()
        except ValueError as exc:
            problems.add(key, value, str(exc))
            return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        problems.add(key, value, "a column name or a list of them is needed. Write it as in ['id', 'dt']")
        return ()
    names = column_list(value)
    for name in names:
        if not _COLUMN_NAME.fullmatch(name):
            problems.add(
                key,
                name,
                "not a plain column name (without commas and backticks). Name it without quotes, or give it an alias",
            )
    for lowered, count in Counter(name.lower() for name in names).items():
        if count > 1:
            first = next(name for name in names if name.lower() == lowered)
            problems.add(key, value, f"'{first}' is listed twice. Name each column once")
    return tuple(dict.fromkeys(names))


def _partition_columns(value: Any) -> Any:
    """A `partition_by` with column names instead of dbt-bigquery's mappings."""
    if isinstance(value, Mapping):
        return partition_column(value)
    if isinstance(value, (list, tuple)):
        return [partition_column(item) if isinstance(item, Mapping) else item for item in value]
    return value


def _with_contract(
    primary_key: tuple[str, ...],
    constraints: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Mapping[str, Any]],
    problems: Problems,
) -> tuple[str, ...]:
    found = _contract_keys(constraints, columns)
    contract_key = next(filter(None, found), ())
    if any(_folded(keys) != _folded(contract_key) for keys in found if keys):
        listed = " and ".join(f"({', '.join(keys)})" for keys in found)
        problems.add("constraints", None, f"the contract has several primary keys: {listed}. Keep one")
        return primary_key
    if contract_key and primary_key and _folded(primary_key) != _folded(contract_key):
        problems.add(
            "primary_key",
            list(primary_key),
            f"the contract's primary key is ({', '.join(contract_key)}). Make them equal, or keep one",
        )
    return primary_key or contract_key


def _contract_keys(
    constraints: Sequence[Mapping[str, Any]], columns: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, ...]]:
    """The primary keys of a contract: one of each model constraint, and one of all column constraints together."""
    found = [tuple(each.get("columns") or ()) for each in constraints if _is_primary_key(each)]
    on_columns = tuple(
        name for name, column in columns.items() if any(map(_is_primary_key, column.get("constraints") or ()))
    )
    return [*found, on_columns] if on_columns else found


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _is_primary_key(constraint: Mapping[str, Any]) -> bool:
    kind = constraint.get("type")
    return str(getattr(kind, "value", kind)) == "primary_key"


def _options(
    config: Mapping[str, Any], properties: Mapping[str, Any], problems: Problems, versions: Versions
) -> dict[str, str]:
    options: dict[str, str] = {}
    for key, name, value in _own_options(config, problems):
        faults = validate_option(name, value, versions.paimon)
        for fault in faults:
            problems.add(key, value, fault)
        if not faults:
            options[name] = normalize(value)
    for name, value in properties.items():
        key = f"tblproperties['{name}']"
        unfit = read_fault(name, normalize(value))
        faults = [unfit] if unfit else validate_option(name, value, versions.paimon)
        text = _without_blanks(name, normalize(value))
        own = options.get(name, text)
        if not faults and canonical(name, own, versions.paimon) != canonical(name, text, versions.paimon):
            faults = [f"the model's own key is '{own}'. Keep one of the two"]
        for fault in faults:
            problems.add(key, value, fault)
        if not faults:
            options[name] = own
    if "merge-engine" in options:
        options["merge-engine"] = options["merge-engine"].lower()
    return options


def _without_blanks(name: str, text: str) -> str:
    """Remove blanks from a list of columns: for 'id, dt' Paimon looks for a column ' dt' [ran, 0.9.0]."""
    field_option = split_field_option(name)
    is_list = name in _COLUMN_LISTS or (field_option is not None and field_option[1] == "sequence-group")
    return ",".join(split_columns(text)) if is_list else text


def _own_options(config: Mapping[str, Any], problems: Problems) -> Iterator[tuple[str, str, Any]]:
    """(config key, Paimon's option, value) for the keys that stand for options."""
    for key, name in OPTION_KEYS.items():
        value = config.get(key)
        if value is None or (key == "bucket" and _is_auto(value)):
            continue
        if key in ("bucket_key", "sequence_field"):
            value = ",".join(_columns(value, key, problems))
            if not value:
                continue
        elif key == "merge_engine" and isinstance(value, str):
            value = value.strip().lower().replace("_", "-")
        elif key == "file_format" and (value == "" or is_table_format(value)):
            # Empty as in "{{ 'delta' if target.type == 'databricks' else '' }}".
            continue
        yield key, name, value
    for group in GROUPED_KEYS:
        yield from _grouped_options(group, config.get(group), problems)
    yield from _field_options(config.get("fields"), problems)


def _grouped_options(group: str, given: Any, problems: Problems) -> Iterator[tuple[str, str, Any]]:
    if given is None:
        return
    keys, example = GROUPED_KEYS[group]
    if not isinstance(given, Mapping):
        example = f"{example}, with any of {', '.join(keys)}"
        problems.add(group, given, f"a mapping is needed. Write it as in {example}")
        return
    for key, value in given.items():
        if value is None:
            continue
        if key in keys:
            yield f"{group}.{key}", keys[key].option, value
        else:
            problems.add(f"{group}.{key}", value, f"unknown key. {did_you_mean(str(key), keys, 0.6)}")


def _field_options(fields: Any, problems: Problems) -> Iterator[tuple[str, str, Any]]:
    if fields is None:
        return
    if not isinstance(fields, Mapping):
        problems.add(
            "fields",
            fields,
            "a mapping of columns to their settings is needed. Write it as in {'n': {'aggregate_function': 'sum'}}",
        )
        return
    for column, settings in fields.items():
        if settings is not None and not isinstance(settings, Mapping):
            problems.add(
                f"fields.{column}",
                settings,
                "a mapping is needed. Write it as in {'aggregate_function': 'sum'}",
            )
            continue
        for key, value in (settings or {}).items():
            where = f"fields.{column}.{key}"
            attribute = _FIELD_ATTRIBUTES.get(squash(str(key)))
            if value is None:
                continue
            if attribute is None:
                near = suggestion(str(key), [name.replace("-", "_") for name in FIELD_ATTRIBUTES], cutoff=0.6)
                known = ", ".join(
                    name.replace("-", "_") for name in names_at(FIELD_ATTRIBUTES, OLDEST_PAIMON)
                )
                hint = f"Did you mean '{near}'?" if near else f"Known: {known}"
                problems.add(where, value, f"unknown key. {hint}")
                continue
            members = ",".join(_columns(value, where, problems)) if attribute == "sequence-group" else value
            yield where, f"fields.{column}.{attribute}", members


class ConfigOrigin:
    """Finds the config key and value that the user wrote for a Paimon option."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._written: dict[str, tuple[str, Any]] = {}
        for key, option in OPTION_KEYS.items():
            if config.get(key) is not None:
                self._written[option] = (key, config[key])
        for group, (keys, _) in GROUPED_KEYS.items():
            given = config.get(group)
            for key, value in given.items() if isinstance(given, Mapping) else ():
                if key in keys and value is not None:
                    self._written[keys[key].option] = (f"{group}.{key}", value)
        if config.get(iceberg.KEY) is not None:
            self._written[iceberg.STORAGE] = (iceberg.KEY, config[iceberg.KEY])
        properties = config.get("tblproperties")
        if isinstance(properties, Mapping):
            for option, value in properties.items():
                self._written.setdefault(str(option), (f"tblproperties['{option}']", value))

    def find(self, name: str, spec: TableSpec) -> tuple[str, Any]:
        """The key and value to show for an option, 'primary_key' or 'partition_by'."""
        if name == "primary_key":
            return name, list(spec.primary_key)
        if name == "partition_by":
            return name, list(spec.partition_by)
        if name in self._written:
            return self._written[name]
        key = name.replace("-", "_") if name.startswith("fields.") else name
        return key, spec.options.get(name)
