"""Folders and files that are this user's alone: nobody else can have put there what is read from them."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import IO, Final

from dbt_common.exceptions import DbtRuntimeError

try:
    import grp
    import pwd
except ImportError:  # Windows
    pass

# Windows keeps a user's folders private by other means.
_HAS_OWNERS = os.name == "posix"
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_ROOT: Final = 0


def weakness(folder: Path) -> str | None:
    """Why somebody else may change what a folder holds, as the end of a sentence; None if nobody (but root) may.

    The folder itself has to be this user's, and writable by nobody else. Whoever may write a folder above it may put
    another in its place, unless that one is sticky as /tmp is.

    Raises:
        OSError: it is not there, or cannot be looked at.
    """
    if not _HAS_OWNERS:
        return None
    folder = folder.resolve(strict=True)
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is no folder"
    if found.st_uid != os.geteuid():
        return f"{folder} belongs to {_user(found.st_uid)}"
    if found.st_mode & _OTHERS_WRITE:
        return f"others may write {folder} (mode {stat.S_IMODE(found.st_mode):03o})"
    for above in folder.parents:
        found = above.stat()
        if found.st_uid not in (_ROOT, os.geteuid()):
            return f"{above}, which it is in, belongs to {_user(found.st_uid)}"
        if _others_may_replace(found):
            return f"others may write {above}, which it is in (mode {stat.S_IMODE(found.st_mode):03o})"
    return None


def own_folder(folder: Path) -> str | None:
    """Make a folder, if it is not there, that this user alone may read and write.

    Returns:
        As `weakness`: why it cannot be trusted. It is left as it is then.

    Raises:
        OSError: it cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=stat.S_IRWXU)
    reason = weakness(folder)
    if reason is None and stat.S_IMODE(folder.stat().st_mode) != stat.S_IRWXU:
        folder.chmod(stat.S_IRWXU)
    return reason


def require_own_folder(folder: Path, what: str, remedy: str) -> Path:
    """As `own_folder`, for a folder that there is no other one for.

    Args:
        folder: the folder.
        what: what it is, as the error begins with it.
        remedy: what else a person can do than to mend its owner and mode.

    Raises:
        DbtRuntimeError: it cannot be made, or somebody else may change what it holds.
    """
    try:
        reason = own_folder(folder)
    except OSError as exc:
        reason = exc.strerror or str(exc)
    if reason is not None:
        raise DbtRuntimeError(
            f"{what}, {folder}, is not used: {reason}. Look at what it holds, have it belong to you with mode 700 "
            f"(chmod 700 {folder}) and nobody else write the folders that it is in; {remedy}."
        )
    return folder


def is_own_file(path: Path) -> bool:
    """Whether a path is a file, no link, that this user owns and nobody else may write.

    Raises:
        OSError: it is not there.
    """
    found = path.lstat()
    if not _HAS_OWNERS:
        return stat.S_ISREG(found.st_mode)
    return (
        stat.S_ISREG(found.st_mode)
        and found.st_uid == os.geteuid()
        and not found.st_mode & _OTHERS_WRITE
        # A second name may be in a folder of somebody else's.
        and found.st_nlink == 1
    )


def read_own(path: Path) -> str:
    """The text of a file of this user's.

    Raises:
        OSError: it is not there, or somebody else may have written it.
    """
    if not is_own_file(path):
        raise PermissionError(f"{path} is not this user's alone")
    return path.read_text(encoding="utf-8")


def write_own(path: Path, text: str) -> None:
    """Write a file, for this user alone to read, in one rename.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    with open_own(part, os.O_EXCL) as file:
        file.write(text.encode())
    part.replace(path)


def open_own(path: Path, flags: int = 0) -> IO[bytes]:
    """Open a file to write it, made if it is not there; no link is followed.

    Raises:
        OSError: it is a link, or somebody else's.
    """
    found = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | flags, 0o600)
    file = os.fdopen(found, "r+b", buffering=0)
    if _HAS_OWNERS and os.fstat(found).st_uid != os.geteuid():
        file.close()
        raise PermissionError(f"{path} is not this user's")
    return file


def temporary_folder() -> Path:
    """A folder of this user's among the machine's temporary ones, for whatever a Spark puts there.

    Raises:
        DbtRuntimeError: somebody else has made, or may change, both that one and the one in the user's home.
    """
    name = f"dbt-paimon-{os.geteuid() if _HAS_OWNERS else os.environ.get('USERNAME', 'user')}"
    wanted = Path(tempfile.gettempdir(), name)
    try:
        if own_folder(wanted) is None:
            return wanted
    except OSError:
        pass
    return require_own_folder(
        Path.home() / ".cache" / "dbt-paimon" / "tmp",
        f"The folder for temporary files (in the place of {wanted}, which is not yours alone)",
        "or name another folder in the environment variable TMPDIR",
    )


def _others_may_replace(found: os.stat_result) -> bool:
    """Whether somebody else may rename what a folder holds."""
    if not found.st_mode & _OTHERS_WRITE or found.st_mode & stat.S_ISVTX:
        return False
    return bool(found.st_mode & stat.S_IWOTH) or not _is_group_of_one(found.st_gid)


def _is_group_of_one(gid: int) -> bool:
    """Whether a group is this user's own, of the user's name and with nobody else in it; homes of such are mode 775."""
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
