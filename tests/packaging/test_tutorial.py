"""Runs docs/tutorial.md as a new user would."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from doc_pages import Shell, blocks_of, follow

PAGE = "docs/tutorial.md"


# In CI, the README's commands run in such an environment (`test_wheel.py`).
@pytest.mark.full
@pytest.mark.slow
def test_every_step(shell: Shell) -> None:
    """All steps, from an empty environment of this Python, with the wheel."""
    shell.environ["PATH"] = f"{Path(sys.base_prefix) / 'bin'}{os.pathsep}{shell.environ['PATH']}"
    follow(blocks_of(PAGE), shell)
