"""Half-done swaps are finished, whole ones are left alone."""

import pytest

from dbt.adapters.paimon.swaps import Rename, unfinished_swaps


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ([], []),
        (["t"], []),
        (["t", "t__dbt_tmp"], []),
        (["t", "t__dbt_backup"], []),
        (["t__dbt_tmp"], []),
        (["t__dbt_backup"], [Rename("t__dbt_backup", "t")]),
        (["t__dbt_tmp", "t__dbt_backup"], [Rename("t__dbt_tmp", "t")]),
        (["a__dbt_backup", "b", "b__dbt_backup"], [Rename("a__dbt_backup", "a")]),
    ],
)
def test_unfinished_swaps(tables, expected):
    assert unfinished_swaps(tables) == expected
