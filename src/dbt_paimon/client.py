"""Client of a running `dbt-paimon shell` of the same project: sends it a command and prints the output.

Both use a Unix socket in a private folder. The request is one line of JSON. The answer is one line of JSON for each
piece of output (`{"text": …}`), followed by `{"code": …}`, the exit code.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

# Sent after the request to interrupt the command, as Ctrl-C does.
INTERRUPT: Final = b"\x03"
_FOLDERS: Final = {"--project-dir": "DBT_PROJECT_DIR", "--profiles-dir": "DBT_PROFILES_DIR"}


def send(words: Sequence[str]) -> int | None:
    """Run a command line in the project's shell and return the exit code, or None if no shell is running."""
    project = _project(words)
    if project is None:
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(socket_path(project, _profiles(words))))
        except OSError:
            return None
        request = {"words": list(words), "folder": str(Path.cwd())}
        with _interrupting(connection):
            connection.sendall(json.dumps(request).encode() + b"\n")
            return _print_answer(connection)


def socket_path(project: Path, profiles: Path | None) -> Path:
    """The socket of a project's shell; named by a hash of the project folder and, if set, the profiles folder.

    Raises PermissionError if other users can access the folder of the sockets.
    """
    folder = Path(tempfile.gettempdir(), f"dbt-paimon-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{folder} must be a folder that only this user can access")
    named = f"{project.resolve()}\n{profiles.resolve() if profiles else ''}"
    return folder / f"{hashlib.sha256(named.encode()).hexdigest()[:20]}.sock"


def _print_answer(connection: socket.socket) -> int:
    with connection.makefile("r", encoding="utf-8") as lines:
        for line in lines:
            answer: dict[str, Any] = json.loads(line)
            if "code" in answer:
                return int(answer["code"])
            sys.stdout.write(answer["text"])
            sys.stdout.flush()
    sys.stderr.write("The shell ended before the command did.\n")
    return 2


@contextmanager
def _interrupting(connection: socket.socket) -> Iterator[None]:
    """Send the first Ctrl-C to the shell; the second one ends this process."""

    def pressed(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        connection.sendall(INTERRUPT)

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _project(words: Sequence[str]) -> Path | None:
    """The project's folder, as in dbt: the given one, or the nearest one upwards with dbt_project.yml."""
    if given := _given(words, "--project-dir"):
        return Path(given)
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "dbt_project.yml").is_file()), None)


def _profiles(words: Sequence[str]) -> Path | None:
    given = _given(words, "--profiles-dir")
    return Path(given) if given else None


def _given(words: Sequence[str], option: str) -> str:
    for position, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == option:
            return value if equals else "".join(words[position + 1 : position + 2])
    return os.environ.get(_FOLDERS[option], "")
