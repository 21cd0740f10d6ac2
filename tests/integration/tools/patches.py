"""A page's patches, applied to installed packages in an environment for one test."""

from __future__ import annotations

import subprocess
from pathlib import Path

from integration.tools import environments, pages
from integration.tools.environments import Environment


def patched(page: str, install: str, wheel: Path, folder: Path) -> Environment:
    """A new environment in a folder, with a page's patches applied.

    Raises:
        CalledProcessError: a hunk does not apply.
    """
    environment = environments.environment(folder.name, install, wheel, folder)
    for patch in pages.blocks(page, "diff"):
        command = ["patch", "--strip=1", "--fuzz=0", "--batch"]
        subprocess.run(command, input=patch, cwd=environment.packages, text=True, check=True)
    return environment
