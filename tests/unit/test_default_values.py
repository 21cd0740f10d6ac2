"""Which strings are accepted as default values: only those that Paimon is certain to parse completely."""

import pytest

from dbt.adapters.paimon.spec.components.fields import _is_value as is_value
from dbt.adapters.paimon.sql.type_trees import Atom, type_tree

TEXTS = {
    "tinyint": (["127", "-128", "007"], ["128", "300", "-129", "1.0", "1e1", " 5 ", "", "1_0", "٣"]),
    "int": (["2147483647"], ["2147483648", "1.9"]),
    "bigint": (["-9223372036854775808"], ["9223372036854775808", "1e30"]),
    "decimal(5,2)": (
        ["1", "999.99", "-1.50"],
        ["1000", "1.999", "1e-3", "NaN", " 1.5"],
    ),
    "double": (["1.5", "0.1"], ["1e999", "abc", "inf", "", "nan", "0x1"]),
    "float": (["0.1"], ["1e39"]),
    "boolean": (["true", "false"], [" true", "perhaps", ""]),
    "date": (
        ["2024-02-29"],
        ["2023-02-29", "2024-13-45", "2024", "19000", "2024-01-02 10:00:00"],
    ),
    "timestamp": (
        ["2024-01-02", "2024-01-02 03:04:05", "2024-01-02 03:04:05.123456"],
        [
            *("now", "12:00", "2024-01-02T03:04:05", "2024-01-02 03:04", "2024-01-02 25:04:05"),
            *("2024-01-02 03:04:05.1234567", "2024-01-02 03:04:05+08:00"),
        ],
    ),
    "varchar(2)": (["", "ab"], ["abc"]),
    "char(2)": (["a"], ["abc"]),
    "string": (["", "anything"], []),
    "binary": (["ab"], []),
}


@pytest.mark.parametrize("data_type", TEXTS)
def test_valid_and_invalid_defaults(data_type):
    kind = type_tree(data_type)
    assert isinstance(kind, Atom)
    good, bad = TEXTS[data_type]
    assert [text for text in good if not is_value(text, kind)] == []
    assert [text for text in bad if is_value(text, kind)] == []
