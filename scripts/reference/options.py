"""paimon-options.md: the table options of each Paimon version; their values and defaults for other pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dbt.adapters.paimon.capabilities.version_numbers import OPTION_CATALOGUES
from dbt.adapters.paimon.options.read_options import READ_OPTIONS
from dbt.adapters.paimon.options.table_options import (
    FLINK_ONLY,
    REMOVED_OPTIONS,
    RESERVED_PROPERTIES,
    OptionDefinition,
    lookup,
    table_options,
)
from dbt.adapters.paimon.spec.components import GROUPED_KEYS, OPTION_KEYS
from reference.markdown import NOTHING, code, codes, table

# How values of a type are written in a config; values of other types are text.
_TYPES: Final = {
    "Boolean": "`true` or `false`",
    "Integer": "a whole number",
    "Long": "a whole number",
    "Float": "a number",
    "Double": "a number",
    "Duration": "a duration, as in `'1 h'`",
    "MemorySize": "a size, as in `'128 mb'`",
    "Map": "pairs, as in `'0:avro,5:parquet'`",
}
_NEWEST: Final = OPTION_CATALOGUES[-1]
_PAGE: Final = """\
# Paimon's table options

The options that a model may set in [`tblproperties`](config-keys.md#a-table). If an option has its own config key, use
that instead. A name that your Paimon version does not have is refused. The table lists the options of Paimon
{versions}; a release between two of these may have options of both. `make reference` writes this page from the code.

- The column of a release shows the option's default, *yes* if there is no default, or nothing if the release lacks the
  option.
- *fixed*: the option is set when a table is created; a change needs a new table
  ([config](../config.md#when-a-config-changes)).
- In addition: `fields.<column>.…` ([`fields`](config-keys.md#fields)), `file-index.<type>.columns`,
  `file-index.<type>.<column>.…`, `commit.callback.<class>.param`, `tag.callback.<class>.param`,
  `metadata.iceberg.…`, and a file format's own options under its name, such as `parquet.…`.

## Options

{options}

## Options that a model may not set

Each of them would change what every reader sees, would do nothing, or is not meant to be set by a model.

{refused}

Only Flink reads the following options; on Spark they do nothing, so they are refused, too: {flink}.
"""


def page() -> str:
    """The whole page."""
    return _PAGE.format(
        versions=", ".join(OPTION_CATALOGUES),
        options=table(("option", "takes", *OPTION_CATALOGUES, "", "config key"), map(_row, _names())),
        refused=table(("option", "instead"), _refused()),
        flink=codes(sorted(FLINK_ONLY)),
    )


def takes_of(name: str) -> str:
    """The values that an option takes, in words; '' for a name that is not an option."""
    definition = _definition(name)
    if definition is None:
        return ""
    return codes(definition.values) if definition.values else _TYPES.get(definition.type, "text")


def default_of(name: str) -> str:
    """An option's default, per version if it differs."""
    defaults = {version: table_options(version)[name].default for version in versions_with(name)}
    shown = {version: code(default) if default else NOTHING for version, default in defaults.items()}
    if len(set(shown.values())) <= 1:
        return next(iter(shown.values()), NOTHING)
    return ", ".join(f"{default} ({version})" for version, default in shown.items())


def versions_with(name: str) -> list[str]:
    """The Paimon versions that have an option."""
    return [version for version in OPTION_CATALOGUES if name in table_options(version)]


def _definition(name: str) -> OptionDefinition | None:
    return next((found for version in reversed(OPTION_CATALOGUES) if (found := lookup(name, version))), None)


def _names() -> list[str]:
    every = {name for version in OPTION_CATALOGUES for name in table_options(version)}
    return sorted(every - {*READ_OPTIONS, *RESERVED_PROPERTIES, *REMOVED_OPTIONS, *FLINK_ONLY})


def _row(name: str) -> tuple[str, ...]:
    versions = versions_with(name)
    fixed = any(table_options(version)[name].immutable for version in versions)
    cells = [_default(name, version) if version in versions else "" for version in OPTION_CATALOGUES]
    return code(name), takes_of(name), *cells, "*fixed*" if fixed else "", _key(name)


def _default(name: str, version: str) -> str:
    default = table_options(version)[name].default
    return code(default) if default else "*yes*"


def _key(name: str) -> str:
    own = {option: key for key, option in OPTION_KEYS.items()}
    grouped = {key.option: f"{group}.{name}" for group, (keys, _) in GROUPED_KEYS.items() for name, key in keys.items()}
    found = {**own, **grouped, "partition": "partition_by"}.get(name)
    return code(found) if found else ""


def _refused() -> Iterator[tuple[str, str]]:
    by_remedy: dict[str, list[str]] = {}
    for name, instead in {**READ_OPTIONS, **RESERVED_PROPERTIES, **REMOVED_OPTIONS}.items():
        by_remedy.setdefault(instead.format(name="…"), []).append(name)
    return ((codes(names), instead) for instead, names in by_remedy.items())
