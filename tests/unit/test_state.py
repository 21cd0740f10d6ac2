"""The versions of the adapter's own state: which are read or refused."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from dbt.adapters.paimon.changes import positions
from dbt.adapters.paimon.changes.positions import NOTHING_READ, Position, SavedPosition
from dbt.adapters.paimon.concurrency.locks import FOLDER, TableLocks
from dbt.adapters.paimon.machine import cache_folder as cache
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.sql.views import ViewDirectory
from dbt.adapters.paimon.state import folders, kinds, tables
from dbt.adapters.paimon.state.kinds import CURRENT, Kind, NewerStateError, refuse_newer
from dbt.adapters.paimon.streaming import commits

KINDS = list(Kind)


class TestVersions:
    @pytest.mark.parametrize("found", [None, "0", "1", " 1\n"])
    def test_known_versions_are_read(self, found):
        refuse_newer(Kind.VIEWS, found, "s._dbt_views")

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("found", ["one more", "99", "²", "-1", "1.5", "", "1 2"])
    def test_unknown_versions_are_refused(self, kind, found):
        found = str(CURRENT[kind] + 1) if found == "one more" else found
        with pytest.raises(NewerStateError, match=r"a\.b was written by a newer dbt-paimon") as raised:
            refuse_newer(kind, found, "a.b")
        assert f"(state version {found}; this one knows versions up to {CURRENT[kind]})" in raised.value.msg


class TestTables:
    def test_the_version_is_an_option(self):
        tables.refuse_newer_table(Kind.DELETES, {"bucket": "1"}, "t")
        tables.refuse_newer_table(Kind.DELETES, {tables.OPTION: "1"}, "t")
        with pytest.raises(NewerStateError, match="t was written by"):
            tables.refuse_newer_table(Kind.DELETES, {tables.OPTION: "9"}, "t")

    def test_a_new_table_has_the_version(self):
        ddl = positions.create_sql("t")
        assert f"'{tables.OPTION}' = '{CURRENT[Kind.POSITIONS]}'" in ddl


class TestFolders:
    def test_a_folder_is_marked_once(self, tmp_path):
        folders.ready_folder(Kind.LOCKS, tmp_path)
        before = (tmp_path / folders.FILE).stat().st_mtime_ns
        folders.ready_folder(Kind.LOCKS, tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [folders.FILE]
        assert (tmp_path / folders.FILE).stat().st_mtime_ns == before
        assert (tmp_path / folders.FILE).read_text() == f"{CURRENT[Kind.LOCKS]}\n"


class TestMarks:
    OLD = Commit(1, "APPEND", "dbtc-0a0a0a0a.4.1b1b1b1b_2c2c2c2c_7d-uuid")

    def test_a_mark_of_version_0_1_0_is_read(self):
        assert positions.find("0a0a0a0a", [self.OLD], None) == Position(4, "1b1b1b1b")

    def test_a_newer_mark_is_refused(self):
        newer = Commit(2, "APPEND", "dbtc2-anything_7d-uuid")
        with pytest.raises(NewerStateError, match=r"s\.t was written by a newer dbt-paimon"):
            positions.find("0a0a0a0a", [self.OLD, newer], None, "s.t")

    @pytest.mark.parametrize("user", ["dbt_12345678_uuid", "dbtc", "dbtcx-1", "spark-dbtc9-1", "9b2f7a30-uuid"])
    def test_other_commits_are_not_refused(self, user):
        kinds.refuse_newer_mark(Kind.READ_MARK, user, "t")

    def test_a_saved_position_after_a_newer_mark_is_enough(self):
        newer = Commit(2, "APPEND", "dbtc2-anything_7d-uuid")
        saved = SavedPosition(Position(9, "eeeeeeee"), Position.at(newer))
        assert positions.find("0a0a0a0a", [self.OLD, newer], saved) == saved.position
        assert positions.find("0a0a0a0a", [], None) == NOTHING_READ

    def test_batches(self):
        ours, newer = (Commit(1, "APPEND", f"{mark}-s.3_uuid") for mark in ("dbts", "dbts2"))
        assert commits.is_written([ours], "s", 3, 0, table="t", may_repeat=False)
        with pytest.raises(NewerStateError):
            commits.is_written([newer], "s", 3, 0, table="t", may_repeat=True)


class TestLocks:
    def test_a_newer_warehouse_is_refused_and_its_lock_is_free(self, tmp_path: Path):
        (tmp_path / FOLDER).mkdir()
        version = tmp_path / FOLDER / folders.FILE
        version.write_text("7")
        locks = TableLocks()
        for attempt in (locks.hold, locks.take):
            with pytest.raises(NewerStateError, match="state version 7"):
                attempt("t", tmp_path)
        assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [folders.FILE]
        version.unlink()
        assert locks.take("t", tmp_path)
        locks.release()
        assert version.read_text() == f"{CURRENT[Kind.LOCKS]}\n"


class TestCache:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
        other = tmp_path / "other"
        other.mkdir(mode=0o700)
        monkeypatch.setattr(cache, "temporary_folder", lambda: other)
        return tmp_path / "caches" / "dbt-paimon"

    def test_a_newer_cache_is_not_used(self, folder: Path, tmp_path: Path):
        folder.mkdir(parents=True, mode=0o700)
        (folder / folders.FILE).write_text("9")
        assert cache.cache_folder() == tmp_path / "other" / "cache"
        assert [path.name for path in folder.iterdir()] == [folders.FILE]
        (tmp_path / "other" / "cache" / folders.FILE).write_text("9")
        with pytest.raises(NewerStateError):
            cache.cache_folder()


def test_newer_views_are_refused_where_a_statement_mentions_them():
    directory = ViewDirectory()
    directory.configure("paimon", "spark_catalog", "here")
    statement = "select * from `spark_catalog`.`s`.`v`"
    for _ in range(2):
        with pytest.raises(NewerStateError, match=r"s\._dbt_views was written by a newer"):
            directory.create_mentioned(statement, lambda sql: [(tables.OPTION, "9")], nullcontext)
