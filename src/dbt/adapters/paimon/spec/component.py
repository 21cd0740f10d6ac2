"""Defines `Component`: one part of a table, such as its buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.config_keys import Key, key_field, keys_of
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec

# dbt validates these types with jsonschema, whose message has no remedy and reports only the first mistake. So the
# types are wide, and the components check the values.
Columns: TypeAlias = str | list[str] | None

# (a Paimon option, 'primary_key' or 'partition_by'; the reason with its remedy).
Found: TypeAlias = Iterable[tuple[str, str]]
# Column -> Spark type.
Types: TypeAlias = Mapping[str, str]
Rule: TypeAlias = Callable[[TableSpec, Versions], Found]
ColumnRule: TypeAlias = Callable[[TableSpec, Types, Versions], Found]
# (config key, Paimon's option, value).
OptionValue: TypeAlias = tuple[str, str, Any]


def config_key(meaning: str, takes: str = "", **description: Any) -> Any:
    """A dataclass field for a config key, with default None and the description of the key (see `Key`)."""
    return key_field(None, meaning, takes, **description)


@dataclass(frozen=True)
class PropertyChange:
    """A change of an option or key of an existing table; None means "not set"."""

    name: str
    old: str | None
    new: str | None
    # The columns whose stored values are merged differently after the change (see `aggregates`).
    merges: frozenset[str] = frozenset()

    def __str__(self) -> str:
        old, new = ("not set" if value is None else f"'{value}'" for value in (self.old, self.new))
        return f"{self.name}: {old} -> {new}"


# (change, all options of the table, versions).
Guard: TypeAlias = Callable[[PropertyChange, Mapping[str, str], Versions], bool]


@dataclass(frozen=True, kw_only=True)
class Component:
    """One part of a table: its config keys, the rules for them, and which changes need a new table.

    Attributes:
        keys: the config keys as a dataclass; `PaimonConfig` has the keys of all components.
        values: config key -> function from (value, key, problems) to the option's value, or None to set no option.
        groups: config key that is a mapping -> (the keys in it, an example).
        read: returns further options that a config sets.
        columns: Paimon's options that list columns, which must exist.
        rules: find config that does not work. Paimon refuses it at CREATE TABLE (one problem at a time), at the first
            INSERT, or never. Each rule names its source: SchemaValidation, TableSchema or a merge function, at
            release-0.9.0, 1.4.2 and 2.0.0.
        unread_rules: find options that Paimon silently ignores (an error; a warning if `require_strict_config` is off).
        column_rules: find config that does not match the columns.
        advice: find config that is valid but has surprising effects; the types are empty if not known yet.
        guards: option that ALTER can change -> a predicate: Paimon refuses the change, or returns wrong rows after it.
    """

    keys: type | None = None
    values: Mapping[str, Callable[[Any, str, Problems], Any]] = field(default_factory=dict)
    groups: Mapping[str, tuple[Mapping[str, Key], str]] = field(default_factory=dict)
    read: Callable[[Mapping[str, Any], Problems], Iterator[OptionValue]] = lambda config, problems: iter(())
    columns: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    unread_rules: tuple[Rule, ...] = ()
    column_rules: tuple[ColumnRule, ...] = ()
    advice: tuple[ColumnRule, ...] = ()
    guards: Mapping[str, Guard] = field(default_factory=dict)

    @property
    def options(self) -> Mapping[str, str]:
        """Maps each config key to the Paimon option that it sets."""
        keys = keys_of(self.keys) if self.keys else {}
        return {name: key.option for name, key in keys.items() if key.option}

    def option_values(self, config: Mapping[str, Any], problems: Problems) -> Iterator[OptionValue]:
        """The options that a config sets."""
        for key, option in self.options.items():
            value = config.get(key)
            if value is not None and key in self.values:
                value = self.values[key](value, key, problems)
            if value is not None:
                yield key, option, value
        for group in self.groups:
            yield from self._grouped(group, config.get(group), problems)
        yield from self.read(config, problems)

    def _grouped(self, group: str, given: Any, problems: Problems) -> Iterator[OptionValue]:
        if given is None:
            return
        keys, example = self.groups[group]
        if not isinstance(given, Mapping):
            example = f"{example}, with any of {', '.join(keys)}"
            problems.add(group, given, f"a mapping is needed. Write it as in {example}")
            return
        given = {key: value for key, value in given.items() if value is not None}
        problems.add_unknown(group, given, keys)
        yield from ((f"{group}.{key}", keys[key].option, value) for key, value in given.items() if key in keys)
