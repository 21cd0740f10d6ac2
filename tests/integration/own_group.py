"""dbt in its own process group, so that a test can press Ctrl-C as in a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

# Background jobs of a shell, and their children, ignore SIGINT. This resets it without a preexec_fn, because gRPC may
# abort the process after a fork.
_RUN = """
import signal
from dbt.cli.main import cli
signal.signal(signal.SIGINT, signal.default_int_handler)
cli()
"""


def start(folder: Path, *arguments: str, environment: Mapping[str, str] = {}) -> subprocess.Popen[str]:
    """Start a dbt command in a project's folder."""
    return subprocess.Popen(
        [sys.executable, "-c", _RUN, *arguments],
        cwd=folder,
        # Without internet access, sending usage statistics delays dbt's exit by ten seconds.
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **environment},
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def press_ctrl_c(process: subprocess.Popen[str]) -> float:
    """Send SIGINT to the group and wait until dbt has ended. Returns the seconds that this took.

    Raises:
        AssertionError: dbt reports success.
    """
    os.killpg(process.pid, signal.SIGINT)
    began = time.monotonic()
    output, _ = process.communicate(timeout=120)
    assert process.returncode != 0, output
    return time.monotonic() - began
