"""Half-done swaps are finished, whole ones are left alone."""

from pathlib import Path

import pytest

from dbt.adapters.paimon.swaps import Rename, exchange, unfinished_swaps


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


def test_folders_change_names_in_one_step(tmp_path: Path) -> None:
    one, other = tmp_path / "ä one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "name").write_text(folder.name)
    assert exchange(one, other)
    assert (one / "name").read_text() == "other"
    assert (other / "name").read_text() == "ä one"


def test_nothing_is_done_where_one_is_missing(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    assert not exchange(tmp_path / "one", tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
