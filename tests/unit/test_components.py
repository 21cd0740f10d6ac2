"""The declarations of the table's components fit together."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt.adapters.paimon.capabilities.version_numbers import OPTION_CATALOGUES
from dbt.adapters.paimon.config_keys import keys_of
from dbt.adapters.paimon.options.table_options import lookup
from dbt.adapters.paimon.spec.components import COMPONENTS, GROUPED_KEYS, NAMING_OPTIONS, OPTION_KEYS


def twice(names):
    return [name for name, count in Counter(names).items() if count > 1]


def test_a_key_and_an_option_belong_to_one_component():
    grouped = [key.option for keys, _ in GROUPED_KEYS.values() for key in keys.values()]
    assert not twice(name for each in COMPONENTS if each.keys for name in keys_of(each.keys))
    assert not twice([*OPTION_KEYS.values(), *grouped])
    assert not twice(option for each in COMPONENTS for option in each.guards)


def test_a_rule_belongs_to_one_component():
    rules = [
        rule for each in COMPONENTS for rule in (*each.rules, *each.unread_rules, *each.column_rules, *each.advice)
    ]
    assert not twice(rules)


@pytest.mark.parametrize(
    "option",
    sorted({*NAMING_OPTIONS, *OPTION_KEYS.values(), *(o for each in COMPONENTS for o in each.guards)}),
)
def test_each_option_exists_in_some_paimon_version(option):
    assert any(lookup(option, version) for version in OPTION_CATALOGUES)
