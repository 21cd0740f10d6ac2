"""Folders and files that only this user can write, so that their content can be trusted."""

from __future__ import annotations

import grp
import os
import pwd
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from dbt_common.exceptions import DbtRuntimeError

_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_ROOT: Final = 0


def weakness(folder: Path) -> str | None:
    """Why other users can change the content of a folder, as the end of a sentence; None if they cannot.

    The folder must belong to this user, and only this user may write to it. A user who can write to a parent folder can
    replace the folder, unless the parent is sticky, as /tmp is.
    """
    folder = folder.resolve(strict=True)
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is not a folder"
    if found.st_uid != os.geteuid():
        return f"{folder} belongs to {_user(found.st_uid)}"
    if found.st_mode & _OTHERS_WRITE:
        return f"others can write to {folder} (mode {stat.S_IMODE(found.st_mode):03o})"
    for above in folder.parents:
        found = above.stat()
        if found.st_uid not in (_ROOT, os.geteuid()):
            return f"{above}, which contains it, belongs to {_user(found.st_uid)}"
        if _others_may_replace(found):
            return f"others can write to {above}, which contains it (mode {stat.S_IMODE(found.st_mode):03o})"
    return None


def own_folder(folder: Path) -> str | None:
    """Create a folder for this user only, and return why it cannot be trusted (see `weakness`), or None."""
    folder.mkdir(parents=True, exist_ok=True, mode=stat.S_IRWXU)
    reason = weakness(folder)
    if reason is None and stat.S_IMODE(folder.stat().st_mode) != stat.S_IRWXU:
        folder.chmod(stat.S_IRWXU)
    return reason


def require_own_folder(folder: Path, what: str, remedy: str) -> Path:
    """Like `own_folder`, but returns the folder, and raises DbtRuntimeError if it cannot be trusted.

    The message begins with `what` and ends with `remedy`.
    """
    try:
        reason = own_folder(folder)
    except OSError as exc:
        reason = exc.strerror or str(exc)
    if reason is not None:
        raise DbtRuntimeError(
            f"{what}, {folder}, is not used: {reason}. Check its content, make sure that you own it, that its mode is "
            f"700 (chmod 700 {folder}) and that only you can write to its parent folders; {remedy}."
        )
    return folder


def is_own_file(path: Path) -> bool:
    """Whether a path is a regular file (not a link) that this user owns and that only this user can write."""
    found = path.lstat()
    # A second hard link may be in a folder of another user.
    is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_nlink == 1
    return is_own and not found.st_mode & _OTHERS_WRITE


def read_own(path: Path) -> str:
    """Read a text file that only this user can write; raises PermissionError if others can."""
    if not is_own_file(path):
        raise PermissionError(f"{path} can be written by other users")
    return path.read_text(encoding="utf-8")


def write_own(path: Path, text: str) -> None:
    """Write a file that only this user can read, with an atomic rename."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    with open_own(part, os.O_EXCL) as file:
        file.write(text.encode())
    part.replace(path)


def open_own(path: Path, flags: int = 0) -> IO[bytes]:
    """Open a file for writing, and create it if it does not exist. Links and other users' files raise OSError."""
    found = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | flags, 0o600)
    file = os.fdopen(found, "r+b", buffering=0)
    if os.fstat(found).st_uid != os.geteuid():
        file.close()
        raise PermissionError(f"{path} belongs to another user")
    return file


def temporary_folder() -> Path:
    """This user's folder for Spark's temporary files, in the system's temporary folder or else in the user's home."""
    wanted = Path(tempfile.gettempdir(), f"dbt-paimon-{os.geteuid()}")
    with suppress(OSError):
        if own_folder(wanted) is None:
            return wanted
    return require_own_folder(
        Path.home() / ".cache" / "dbt-paimon" / "tmp",
        f"The folder for temporary files (instead of {wanted}, which cannot be used)",
        "or set the environment variable TMPDIR to another folder",
    )


def _others_may_replace(found: os.stat_result) -> bool:
    """Whether other users can rename files in a folder."""
    if not found.st_mode & _OTHERS_WRITE or found.st_mode & stat.S_ISVTX:
        return False
    return bool(found.st_mode & stat.S_IWOTH) or not _is_group_of_one(found.st_gid)


def _is_group_of_one(gid: int) -> bool:
    """Whether a group is this user's private group, for which home folders often have mode 775."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and user.pw_name == group.gr_name and set(group.gr_mem) <= {user.pw_name}


def _user(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user {uid}"
