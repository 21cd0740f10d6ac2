"""dbt in a process group of its own, which Ctrl-C can reach as a terminal's does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

# What a shell starts in the background has SIGINT ignored, and all that it starts. Set here, not by a preexec_fn: after a
# fork gRPC may abort the process.
_RUN = """
import signal
from dbt.cli.main import cli
signal.signal(signal.SIGINT, signal.default_int_handler)
cli()
"""


def start(folder: Path, *arguments: str, environment: Mapping[str, str] = {}) -> subprocess.Popen[str]:
    """Start a command of dbt in a project's folder."""
    return subprocess.Popen(
        [sys.executable, "-c", _RUN, *arguments],
        cwd=folder,
        # Without the internet, sending them takes ten seconds of dbt's end.
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **environment},
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def press_ctrl_c(process: subprocess.Popen[str]) -> float:
    """Send SIGINT to the group, and wait until dbt has ended; returns the seconds that it took.

    Raises:
        AssertionError: dbt reports success.
    """
    os.killpg(process.pid, signal.SIGINT)
    began = time.monotonic()
    output, _ = process.communicate(timeout=120)
    assert process.returncode != 0, output
    return time.monotonic() - began
