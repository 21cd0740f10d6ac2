"""The text length of columns, for `adapter.expand_target_column_types`."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.column import PaimonColumn


@pytest.mark.parametrize(
    ("own", "other", "longer"),
    [
        ("string", "string", False),
        ("string", "varchar(9)", False),
        ("varchar(3)", "varchar(9)", True),
        ("varchar(9)", "CHAR(3)", False),
        ("varchar(9)", "string", True),
        ("int", "string", False),
        ("string", "int", False),
    ],
)
def test_only_to_longer_text(own, other, longer):
    assert PaimonColumn("a", own).can_expand_to(PaimonColumn("a", other)) is longer


@pytest.mark.parametrize("data_type", ["string", "varchar(9)"])
def test_the_type_of_a_size(data_type):
    assert PaimonColumn.string_type(PaimonColumn("a", data_type).string_size()) == data_type
