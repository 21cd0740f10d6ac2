"""Interrupted swaps are finished, complete ones are left alone."""

from pathlib import Path

import pytest

from dbt.adapters.paimon.sql.helper_names import base_table_name, own_staging_name
from dbt.adapters.paimon.writing.swaps import Rename, exchange, leftovers, staged_tables, unfinished_swaps


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
        ([f"t__dbt_tmp_{'0' * 16}", "t__dbt_backup"], [Rename(f"t__dbt_tmp_{'0' * 16}", "t")]),
        # Either staged table may be incomplete, so the backup gets the name back.
        (["t__dbt_tmp", f"t__dbt_tmp_{'0' * 16}", "t__dbt_backup"], [Rename("t__dbt_backup", "t")]),
    ],
)
def test_unfinished_swaps(tables, expected):
    assert unfinished_swaps(tables) == expected


def test_names_of_builds() -> None:
    one, other = (own_staging_name("t", 1.8e9) for _ in range(2))
    assert one != other
    assert base_table_name(one) == base_table_name("t__dbt_tmp") == base_table_name("t__dbt_backup") == "t"
    assert base_table_name("t") is base_table_name("t__dbt_tmp_") is base_table_name("t__dbt_tmp_1") is None


def test_staged_tables() -> None:
    one = own_staging_name("t", 1.8e9)
    assert staged_tables("t", ["t", one, "t__dbt_tmp", "t__dbt_backup", "t2__dbt_tmp"]) == ["t__dbt_tmp", one]


@pytest.mark.parametrize("alone", [True, False])
def test_leftovers(alone: bool) -> None:
    now = 1.8e9
    running, dead, others = (own_staging_name(name, at) for name, at in [("t", now - 60), ("t", now - 1e6), ("t2", 0)])
    tables = ["t", "t__dbt_tmp", "t__dbt_backup", running, dead, others, "t__dbt_tmp_kept"]
    gone = {"t__dbt_tmp", "t__dbt_backup", dead} | ({running} if alone else set())
    assert set(leftovers("t", tables, now, alone)) == gone
    # Without the table itself, only the backup has the rows.
    assert "t__dbt_backup" not in leftovers("t", tables[1:], now, alone)


def test_folders_are_swapped_in_one_step(tmp_path: Path) -> None:
    one, other = tmp_path / "ä one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "name").write_text(folder.name)
    assert exchange(one, other)
    assert (one / "name").read_text() == "other"
    assert (other / "name").read_text() == "ä one"


def test_no_exchange_if_a_folder_is_missing(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    assert not exchange(tmp_path / "one", tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
