"""A model's position in a source, from its own table's commits and from the saved position."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.paimon.changes.positions import (
    NOTHING_READ,
    UNREAD,
    Position,
    SavedPosition,
    find,
    lost,
    mark,
    marked,
    renewed,
    short_hash,
)
from dbt.adapters.paimon.changes.read_modes import SourceTable
from dbt.adapters.paimon.changes.sources import Source
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.relation import PaimonRelation

KEY, OTHER = short_hash("a"), short_hash("b")
AT_5, AT_7 = Position(5, short_hash("five")), Position(7, short_hash("seven"))
UUID = "_9c2c2bf1-70ae-4fe5-926b-000000000000"


def commit(number: int, at: Position | None = None, kind: str = "APPEND", rows: int = 1) -> Commit:
    return Commit(number, kind, (mark({KEY: at}) if at else f"someone{number}") + UUID, rows)


def test_commits_of_one_user_differ_by_their_time():
    first, again = (Commit(5, "APPEND", "flink", at=at) for at in (1_700_000_000.5, 1_700_000_060.5))
    assert Position.at(first).is_at(first)
    assert not Position.at(first).is_at(again)
    assert lost(Position.at(first), [again], "the model").startswith("the table was rolled back")
    # A clock that was set back while the table was read by SQL.
    assert Position.at(first).is_at(replace(first, at=first.at - 3600))


def test_a_position_of_an_older_dbt_paimon_is_known_by_the_user():
    one = commit(5)
    older = Position(5, short_hash(one.user))
    assert older.is_at(one) and not lost(older, [one], "the model")
    assert renewed(older, [commit(4), one]) == Position.at(one)
    assert not older.is_at(replace(one, user="another"))


def test_a_mark_is_read_back():
    positions = {KEY: AT_5, OTHER: NOTHING_READ}
    assert marked(mark(positions) + UUID) == positions


@pytest.mark.parametrize("user", ["", UUID[1:], "dbtc", "dbtc_x", "dbtc-zz.1.2_x", "someone-dbtc-00000000.1.00000000_"])
def test_other_users_have_no_position(user):
    assert marked(user) == {}


@pytest.mark.parametrize(
    ("own", "saved", "expected"),
    [
        pytest.param([], None, NOTHING_READ, id="a table without a commit"),
        pytest.param([commit(1)], None, None, id="rows without a mark"),
        pytest.param([commit(1, AT_5), commit(2, AT_7)], None, AT_7, id="the newest commit"),
        pytest.param([commit(2, AT_7), commit(1, AT_5)], None, AT_7, id="in any order"),
        pytest.param([commit(1, AT_5), commit(2)], None, AT_5, id="then a commit of another writer"),
        pytest.param(
            [commit(1, AT_5), Commit(2, "OVERWRITE", mark(UNREAD) + UUID, 3)],
            SavedPosition(AT_5, Position.at(commit(1, AT_5))),
            None,
            id="then a rebuild that read no changes",
        ),
        pytest.param(
            [commit(1, AT_5), Commit(2, "OVERWRITE", mark({**UNREAD, "0a0b0c0d": AT_7}) + UUID, 3)],
            None,
            None,
            id="then a rebuild that read another table",
        ),
        pytest.param(
            [commit(1, AT_5), Commit(2, "OVERWRITE", mark({**UNREAD, KEY: AT_7}) + UUID, 3)],
            None,
            AT_7,
            id="then a rebuild that read this one",
        ),
        pytest.param(
            [commit(1, AT_5), Commit(2, "OVERWRITE", "", 0)],
            None,
            AT_5,
            id="then all partitions have expired",
        ),
        pytest.param(
            [commit(1, AT_5), Commit(2, "OVERWRITE", "dbtp-0123456789ab" + UUID, 3)],
            None,
            None,
            id="then the rows of another environment",
        ),
        pytest.param(
            [commit(1, AT_5), commit(2, AT_7)],
            SavedPosition(AT_5, Position.at(commit(1, AT_5))),
            AT_7,
            id="killed after the commit",
        ),
        pytest.param(
            [commit(1, AT_5)],
            SavedPosition(AT_7, Position.at(commit(1, AT_5))),
            AT_7,
            id="a run without rows",
        ),
        pytest.param([commit(9)], SavedPosition(AT_7, Position(3, "x")), AT_7, id="marked commits have expired"),
        pytest.param(
            [commit(1, AT_5)],
            SavedPosition(AT_7, Position(2, "x")),
            AT_5,
            id="rolled back behind the checkpoint",
        ),
        pytest.param(
            [commit(1, AT_5), commit(2)],
            SavedPosition(AT_7, Position.at(commit(2, AT_7))),
            AT_5,
            id="rolled back, then written by another",
        ),
        pytest.param([], SavedPosition(AT_7, Position(2, "x")), NOTHING_READ, id="rebuilt without a row"),
        pytest.param([], SavedPosition(AT_7, NOTHING_READ), AT_7, id="never had a row"),
        pytest.param(
            [commit(1, AT_5), commit(2, kind="OVERWRITE", rows=0)],
            SavedPosition(AT_5, Position.at(commit(1, AT_5))),
            NOTHING_READ,
            id="emptied",
        ),
        pytest.param(
            [commit(1, AT_5), replace(commit(2, kind="OVERWRITE", rows=0), user="dbtd_c0ffee")],
            SavedPosition(AT_5, Position.at(commit(1, AT_5))),
            AT_5,
            id="delete_rows left no row",
        ),
    ],
)
def test_find(own, saved, expected):
    assert find(KEY, own, saved) == expected


def test_a_branch_continues_from_the_position_of_its_table():
    def source(name: str) -> Source:
        table = SourceTable(TableName("paimon", "db", name), ())
        return Source(PaimonRelation.create("paimon", "db", name), table, (), (), AT_7, None)

    saved = {source("orders").key: SavedPosition(AT_5, Position.at(commit(1)))}
    branch = source("orders$branch_dbt_pr")
    assert branch.key not in saved
    assert branch.position_in([commit(1)], saved, "t") == AT_5
    assert source("other").position_in([commit(1)], saved, "t") is None


@pytest.mark.parametrize(
    ("kind", "most"), [pytest.param("APPEND", 3, id="added"), pytest.param("OVERWRITE", 3 + 2 * 103, id="overwritten")]
)
def test_how_many_rows_may_have_changed(kind, most):
    commits = (
        Commit(1, "OVERWRITE", "a", 90, 90),
        Commit(2, "APPEND", "a", 100, 10),
        Commit(3, "APPEND", "b", 103, 3),
        Commit(4, kind, "c", 103, 0),
    )
    table = SourceTable("paimon", "db", "orders", ())
    relation = PaimonRelation.create("paimon", "db", "orders")
    source = Source(relation, table, commits, (), Position.at(commits[3]), Position.at(commits[1]))
    assert source.most_changes == most
