"""A page of docs/how-to: a test writes its files and runs its commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from dbt_here import dbt_passes
from dbt_paimon.cli import main

DOCS = Path(__file__).parents[3] / "docs" / "how-to"
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# The first line of a code block that has the content of a file.
_FILE = re.compile(r"(?:--|#) (?P<path>\S+\.(?:sql|yml|py))\n")


class Page:
    """A page, and the project in which a test follows it."""

    def __init__(self, name: str, folder: Path, target: dict[str, Any]) -> None:
        self.text = (DOCS / name).read_text("utf-8")
        self.folder, self.target = folder, target

    def section(self, heading: str = "") -> str:
        """The text under a heading; without one, the text before the first heading."""
        parts = re.split(r"^## (.+)\n", self.text, flags=re.MULTILINE)
        return dict(zip(["", *parts[1::2]], parts[::2], strict=True))[heading]

    def blocks(self, language: str, heading: str = "") -> list[str]:
        """The code blocks of a language in a section."""
        found = _BLOCK.finditer(self.section(heading))
        return [block["text"] for block in found if block["language"] == language]

    def write(self, heading: str = "") -> None:
        """Write the files of a section, in order."""
        for block in _BLOCK.finditer(self.section(heading)):
            if named := _FILE.match(block["text"]):
                path = self.folder / named["path"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block["text"])

    def commands(self, heading: str = "") -> list[str]:
        """The dbt and dbt-paimon commands of a section."""
        lines = "".join(self.blocks("sh", heading)).replace("\\\n", " ").splitlines()
        return [line for line in lines if line.startswith(("dbt ", "dbt-paimon "))]

    def run(self, command: str) -> str:
        """Run a command, which has to succeed; returns the output of `dbt-paimon`, and '' for `dbt`."""
        program, *words = shlex.split(command, comments=True)
        if program == "dbt":
            folder = self.folder
            if "--project-dir" in words:
                at = words.index("--project-dir")
                folder = folder / words[at + 1]
                del words[at : at + 2]
            dbt_passes(folder, *words)
            return ""
        places = ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]
        done = CliRunner().invoke(main, [*words, *places])
        assert done.exit_code == 0, done.output
        return done.output


def run_alone(folder: Path, command: str, **environment: str) -> str:
    """Run a dbt command as a process in a folder with its project and profiles; returns the output.

    Raises:
        AssertionError: the command failed; the message is the end of the output.
    """
    program, *words = shlex.split(command, comments=True)
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *words, "--profiles-dir", "."],
        cwd=folder,
        env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "0"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout
