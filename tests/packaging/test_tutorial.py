"""Runs docs/tutorial.md as a new user would."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from doc_pages import LEAKS, SHORT_LIVED, Shell, blocks_of, follow

PAGE = "docs/tutorial.md"


def test_the_first_tables(tmp_path: Path) -> None:
    """Steps 2 to 5 (project, two batches, data tests), in this checkout's environment, which replaces step 1."""
    environ = {key: value for key, value in os.environ.items() if key not in LEAKS}
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    environ["JAVA_TOOL_OPTIONS"] = SHORT_LIVED
    steps = [block for block in blocks_of(PAGE) if block.heading[:2] in ("2.", "3.", "4.", "5.")]
    assert steps[0].commands()[0].startswith("dbt init")
    follow(steps, Shell(tmp_path, environ))


@pytest.mark.full
@pytest.mark.slow
def test_every_step(shell: Shell) -> None:
    """All steps, from an empty environment of this Python, with the wheel."""
    shell.environ["PATH"] = f"{Path(sys.base_prefix) / 'bin'}{os.pathsep}{shell.environ['PATH']}"
    follow(blocks_of(PAGE), shell)
