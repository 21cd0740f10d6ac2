"""config-keys.md: the config keys of models, seeds and snapshots, and the Paimon option that each of them sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dbt.adapters.paimon.capabilities.names import FIELD_ATTRIBUTES
from dbt.adapters.paimon.config_keys import Key, keys_of
from dbt.adapters.paimon.spec.components import GROUPED_KEYS, TABLE_KEYS
from dbt.adapters.paimon.spec.config import STRATEGY_KEYS, STREAM_KEYS, VIEW_KEYS, PaimonConfig
from dbt.adapters.paimon.spec.maintenance_policy import ACTION_KEYS, POLICY_KEYS
from dbt.adapters.paimon.spec.run_tag import KEYS as TAG_KEYS
from dbt.adapters.paimon.spec.spark_settings import KEY as SPARK_CONFIG
from reference.described_keys import DBT_KEYS, FIELD_KEYS
from reference.markdown import NOTHING, code, explained, table, takes
from reference.options import default_of, takes_of

_HEAD = ("key", "takes", "default", "Paimon's option", "")
_PAGE = """\
# Config keys

The keys of this adapter for models, seeds and snapshots: in `config()`, in YAML, or for a folder in `dbt_project.yml`.
dbt's own keys work as usual. [Models](../models.md) explains which to use for which table, [config](../config.md) what
is checked and what happens if a key changes. `make reference` writes this page from the code.

## A table

For seeds, snapshots, and models that are tables.

{table}

## Incremental models

Keys of [strategies](../strategies.md); the first three are dbt's, with this adapter's values. In the conditions of
`merge`, `DBT_INTERNAL_SOURCE` is the model's row, and `DBT_INTERNAL_DEST` the table's row.

{incremental}

## Materialized views

Materialized views also accept the keys of a table and dbt's `on_configuration_change`.

{views}

## Streaming models

{streaming}

{groups}
"""
# Keys that have their own table.
_MAPPINGS = (*GROUPED_KEYS, "table_tag", "fields", "maintenance")


def page() -> str:
    """The whole page."""
    keys = keys_of(PaimonConfig)
    incremental = {**DBT_KEYS, **{name: keys[name] for name in STRATEGY_KEYS}}
    return _PAGE.format(
        table=_table({name: keys[name] for name in (*TABLE_KEYS, SPARK_CONFIG)}),
        incremental=_table(incremental),
        views=_table({name: keys[name] for name in VIEW_KEYS}),
        streaming=_table({name: keys[name] for name in STREAM_KEYS}),
        groups="\n\n".join(_groups()),
    )


def _groups() -> Iterator[str]:
    yield "## Keys that are mappings"
    for group, (keys, example) in GROUPED_KEYS.items():
        yield f"### `{group}`\n\nAs in {code(example)}.\n\n{_table(keys)}"
    yield f"### `table_tag`\n\n{_table(TAG_KEYS)}"
    yield (
        "### `fields`\n\nFor each column, as in `{'amount': {'aggregate_function': 'sum'}}`.\n\n"
        + table(("key", "takes", "from Paimon", "Paimon's option", ""), map(_field_row, FIELD_KEYS))
    )
    yield (
        "### `maintenance`\n\nA policy has these keys, and an action for each table below. `true` turns on an "
        f"action with its defaults; `null` removes an action that the folder's config has set.\n\n{_table(POLICY_KEYS)}"
    )
    for action, keys in ACTION_KEYS.items():
        yield f"#### `{action}`\n\n{_table(keys)}"


def _table(keys: Mapping[str, Key]) -> str:
    rows = [_row(name, key) for name, key in keys.items()]
    # Leave out the column of options if it would be empty.
    if any(option != NOTHING for *_, option, _ in rows):
        return table(_HEAD, rows)
    return table((*_HEAD[:3], _HEAD[4]), [(*row[:3], row[4]) for row in rows])


def _row(name: str, key: Key) -> tuple[str, ...]:
    if name in _MAPPINGS:
        key = replace(key, takes=f"[{key.takes}](#{name})")
    return (
        code(name),
        takes(key) or takes_of(key.option) or "text",
        key.default or (default_of(key.option) if key.option else NOTHING),
        code(key.option) if key.option else NOTHING,
        explained(key),
    )


def _field_row(name: str) -> tuple[str, ...]:
    key, option = FIELD_KEYS[name], name.replace("_", "-")
    return (
        code(name),
        takes(key) or takes_of(f"fields.<column>.{option}") or "text",
        FIELD_ATTRIBUTES[option],
        code(f"fields.<column>.{option}"),
        explained(key),
    )
