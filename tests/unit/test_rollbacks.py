"""Which table snapshot a rollback may go to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.metadata import snapshots, tags
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.metadata.tags import Tag
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.time_travel.api import History
from dbt.adapters.paimon.time_travel.rollbacks import later_compactions, lost_tags, states

TABLE = PaimonRelation.create(database="paimon", schema="s", identifier="t")


def commits(kinds: str) -> list[Commit]:
    """Commits by their initials: 'AC' is an append and a compaction."""
    names = {"A": "APPEND", "C": "COMPACT", "O": "OVERWRITE"}
    return [Commit(number, names[kind]) for number, kind in enumerate(kinds, 1)]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("AAC", [("first", 1)]),
        ("ACA", [("first", 1), ("2", 2)]),
        ("ACCAC", [("first", 1), ("3", 3)]),
        ("A", [("first", 1)]),
    ],
)
def test_states_with_the_same_rows(kinds, expected):
    assert states("first", 1, commits(kinds)) == expected


@pytest.mark.parametrize(("number", "looked_at"), [(1, [3, 5]), (3, [5]), (5, [])])
def test_later_compactions_are_looked_at(number, looked_at):
    assert later_compactions(number, commits("AACAC")) == looked_at


def test_the_adapters_own_tags_may_be_lost() -> None:
    own = ["dbt_audit", "dbt_changes_1a2b_7"]
    assert lost_tags(TABLE, "1", own) == ""
    assert "later table snapshots: dbt_audits, month." in lost_tags(TABLE, "1", [*own, "dbt_audits", "month"])


def test_the_number_of_an_expired_snapshot_that_a_tag_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {name: Tag(name, number, 0) for name, number in {"march": 3, "april": 5}.items()}
    monkeypatch.setattr(tags, "tags", lambda query, table: known)
    monkeypatch.setattr(snapshots, "by_sql", lambda query, table: (Commit(6, "APPEND"), Commit(7, "APPEND")))
    monkeypatch.setattr(History, "_refuse_other_buckets", lambda *_: None)
    adapter: Any = SimpleNamespace(query=None, versions=Versions.of("1.4.2"))
    history = History(adapter, adapter, adapter)
    with pytest.raises(DbtRuntimeError, match="would delete these tags, which are on later table snapshots: april"):
        history.rollback_version(TABLE, 3, drop_tags=False)
    assert history.rollback_version(TABLE, 3, drop_tags=True) == "march"
    assert history.rollback_version(TABLE, 4, drop_tags=False) == "4"
