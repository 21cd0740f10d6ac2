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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from dbt_paimon.words import is_short_target

# Sent after the request to interrupt the command, as Ctrl-C does.
INTERRUPT: Final = b"\x03"
# The options that a shell and its clients share -> the end of dbt's environment variables (DBT_ENGINE_…, DBT_…).
_SHARED: Final = {
    "--project-dir": "PROJECT_DIR",
    "--profiles-dir": "PROFILES_DIR",
    "--profile": "PROFILE",
    "--target": "TARGET",
    "--vars": "",
}


def send(words: Sequence[str]) -> int | None:
    """Run a command line in the project's shell and return the exit code.

    None if no shell of this project, target, profile and variables is running.
    """
    shared, rest = _split(words)
    project = _project(shared)
    if project is None:
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(socket_path(project, shared)))
        except OSError:
            return None
        # The shell adds the shared options. If they were sent, it would parse the project again.
        request = {"words": rest, "folder": str(Path.cwd())}
        with _interrupting(connection):
            connection.sendall(json.dumps(request).encode() + b"\n")
            return _print_answer(connection)


def socket_path(project: Path, shared: Mapping[str, str]) -> Path:
    """The socket of a project's shell; named by a hash of the project folder and of the other options in `_SHARED`.

    Args:
        shared: the options that are given; the others are read from the environment.

    Raises PermissionError if other users can access the folder of the sockets.
    """
    folder = Path(tempfile.gettempdir(), f"dbt-paimon-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{folder} must be a folder that only this user can access")
    profiles = _value(shared, "--profiles-dir")
    others = [_value(shared, name) for name in ("--profile", "--target", "--vars")]
    named = json.dumps([str(project.resolve()), profiles and str(Path(profiles).resolve()), *others])
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


def _project(shared: Mapping[str, str]) -> Path | None:
    """The project's folder, as in dbt: the given one, or the nearest one upwards with dbt_project.yml."""
    if given := _value(shared, "--project-dir"):
        return Path(given)
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "dbt_project.yml").is_file()), None)


def _value(shared: Mapping[str, str], option: str) -> str:
    named = [os.environ.get(f"{prefix}{_SHARED[option]}", "") for prefix in ("DBT_ENGINE_", "DBT_")]
    return next(filter(None, (shared.get(option), *named)), "")


def _split(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The values of the options in `_SHARED`, and the other words."""
    shared: dict[str, str] = {}
    rest = []
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if is_short_target(word):
            shared["--target"] = word[2:] or next(left, "")
        elif name in _SHARED:
            shared[name] = value if equals else next(left, "")
        else:
            rest.append(word)
    return shared, rest
