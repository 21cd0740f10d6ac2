"""Which folders and files are private to this user: by owner, mode, parent folders and links."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.machine import private_files
from dbt.adapters.paimon.machine.cache_folder import cache_folder
from dbt.adapters.paimon.machine.private_files import (
    is_own_file,
    open_own,
    own_folder,
    require_own_folder,
    temporary_folder,
    weakness,
    write_own,
)

SOMEBODY = 65534


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_is_created_private(tmp_path: Path) -> None:
    assert own_folder(tmp_path / "a" / "b") is None
    assert mode(tmp_path / "a" / "b") == 0o700
    # A folder that others can read is closed to them.
    (tmp_path / "a" / "b").chmod(0o755)
    assert own_folder(tmp_path / "a" / "b") is None
    assert mode(tmp_path / "a" / "b") == 0o700


@pytest.mark.parametrize("bits", [0o777, 0o1777, 0o702])
def test_a_folder_that_others_may_write(tmp_path: Path, bits: int) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(bits)
    assert "others can write" in (own_folder(folder) or "")
    assert mode(folder) == bits
    with pytest.raises(DbtRuntimeError, match="chmod 700"):
        require_own_folder(folder, "The folder", "or set another")


@pytest.mark.parametrize(("bits", "weak"), [(0o777, True), (0o1777, False), (0o755, False)])
def test_the_folder_above(tmp_path: Path, bits: int, weak: bool) -> None:
    above = tmp_path / "above"
    (above / "mine").mkdir(parents=True, mode=0o700)
    above.chmod(bits)
    assert (weakness(above / "mine") is not None) is weak


def test_a_link_counts_as_its_target(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open")
    assert weakness(tmp_path / "link") is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
class TestSomebodyElses:
    def test_a_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "theirs"
        folder.mkdir(mode=0o700)
        os.chown(folder, SOMEBODY, SOMEBODY)
        assert "belongs to" in (own_folder(folder) or "")
        (folder / "mine").mkdir(mode=0o700)
        assert "which contains it, belongs to" in (weakness(folder / "mine") or "")

    def test_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "file"
        write_own(file, "mine")
        os.chown(file, SOMEBODY, SOMEBODY)
        assert not is_own_file(file)
        with pytest.raises(PermissionError):
            open_own(file)

    def test_the_temporary_folder_was_taken(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        taken = temporary_folder()
        assert taken.parent == tmp_path
        os.chown(taken, SOMEBODY, SOMEBODY)
        assert temporary_folder().is_relative_to(tmp_path / "home")

    def test_the_cache_was_taken(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
        (tmp_path / "tmp").mkdir()
        taken = cache_folder()
        os.chown(taken, SOMEBODY, SOMEBODY)
        assert cache_folder().is_relative_to(tmp_path / "tmp")


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_own(file, "mine")
    assert mode(file) == 0o600
    assert is_own_file(file)
    (tmp_path / "link").symlink_to(file)
    assert not is_own_file(tmp_path / "link")
    with pytest.raises(OSError, match="symbolic link"):
        open_own(tmp_path / "link")
    # A write replaces a link, and does not change the file that it pointed to.
    write_own(tmp_path / "link", "other")
    assert file.read_text() == "mine"
    os.link(file, tmp_path / "second name")
    assert not is_own_file(file)


@pytest.mark.parametrize(("name", "members", "weak"), [("ann", ["ann"], False), ("staff", ["bob"], True)])
def test_a_group_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, members: list[str], weak: bool
) -> None:
    above = tmp_path / "home"
    (above / "mine").mkdir(parents=True, mode=0o700)
    above.chmod(0o775)
    gid = above.stat().st_gid
    user = private_files.pwd.struct_passwd(("ann", "x", os.geteuid(), gid, "", "/", "/bin/sh"))
    group = private_files.grp.struct_group((name, "x", gid, members))
    monkeypatch.setattr(private_files.pwd, "getpwuid", lambda _: user)
    monkeypatch.setattr(private_files.grp, "getgrgid", lambda _: group)
    assert (weakness(above / "mine") is not None) is weak
