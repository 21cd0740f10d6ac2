"""A patch of a page, applied to what is installed, in an environment that ends with the test."""

from __future__ import annotations

import subprocess
from pathlib import Path

from integration.tools import environments, pages
from integration.tools.environments import Environment


def patched(page: str, install: str, wheel: Path, folder: Path) -> Environment:
    """A new environment in a folder, with the patch of a page.

    Raises:
        CalledProcessError: a hunk does not fit, or only elsewhere.
    """
    environment = environments.environment(folder.name, install, wheel, folder)
    for patch in pages.blocks(page, "diff"):
        command = ["patch", "--strip=1", "--fuzz=0", "--batch"]
        subprocess.run(command, input=patch, cwd=environment.packages, text=True, check=True)
    return environment
