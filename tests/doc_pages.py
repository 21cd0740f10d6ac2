"""Follows pages of the docs: writes their files, runs their commands, and compares the output.

A block with a title is a file (`sql title="models/flights.sql"`). A `sh` block has commands; the comment `exit code 1`
marks one that fails. A `text` block has output of the commands before it: some of the lines, in order, with `…` for
text that differs from run to run, and all rows of the tables.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(
    r"^(?P<ticks>`{3,})(?P<language>\w*)(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=ticks)$",
    re.MULTILINE | re.DOTALL,
)
_TITLE = re.compile(r'title="([^"]*)"')
_CODE = re.compile(r"\bexit code (\d+)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
# Colors, and the time at the start of dbt's lines.
_UNSEEN = re.compile(r"^(?:\x1b\[[\d;]*m)*\d\d:\d\d:\d\d  |\x1b\[[\d;]*m", re.MULTILINE)
# Variables through which this checkout, its environment or its caches would leak into an empty environment.
LEAKS = (
    *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SPARK_HOME", "DBT_PROFILES_DIR", "DBT_PAIMON_JARS"),
    *("PYTEST_ADDOPTS", "XDG_CACHE_HOME", "PIP_CACHE_DIR", "PIP_CONSTRAINT"),
)
# JVM options for a dbt that runs for seconds: the C2 compiler would take 4 of its 16 CPU seconds.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        language: the first word of its info string.
        text: its content.
        title: the file's name; empty if the block is not a file.
        heading: the heading above the block.
        place: the page and the line.
    """

    language: str
    text: str
    title: str = ""
    heading: str = ""
    place: str = ""

    def commands(self) -> list[str]:
        """The commands, without comments."""
        return [command for command, _ in self.codes()]

    def codes(self) -> Iterator[tuple[str, int]]:
        """Each command with its expected exit code."""
        for line in self.text.splitlines():
            command, _, comment = line.partition("  #")
            if command.strip() and not command.startswith("#"):
                code = _CODE.search(comment)
                yield command.strip(), int(code[1]) if code else 0


def blocks_of(page: str, under: str = "") -> list[Block]:
    """The blocks of a page.

    Args:
        page: the page's path in the repository.
        under: a heading, for example `## Install`; only the blocks after it are returned.

    Raises:
        ValueError: there is no such heading, or a file's name is only in its title, which GitHub does not show.
    """
    return blocks_in((ROOT / page).read_text("utf-8"), page, under)


def blocks_in(text: str, page: str, under: str = "") -> list[Block]:
    """The blocks of a page whose text is given; see `blocks_of`."""
    start = 0
    if under:
        if (below := re.search(rf"^{re.escape(under)}$", text, re.MULTILINE)) is None:
            raise ValueError(f"{page} has no heading {under!r}")
        start = below.end()
    found: list[Block] = []
    prose_from = start
    for fence in _FENCE.finditer(text, start):
        titled = _TITLE.search(fence["info"])
        title = titled[1] if titled else ""
        place = f"{page}:{text.count(chr(10), 0, fence.start()) + 1}"
        if title and f"`{title}`" not in text[prose_from : fence.start()]:
            raise ValueError(f"{place}: the text above does not say that this is `{title}`")
        headings = _HEADING.findall(_FENCE.sub("", text[: fence.start()]))
        found.append(Block(fence["language"], fence["text"], title, headings[-1] if headings else "", place))
        prose_from = fence.end()
    return found


@dataclass
class Shell:
    """A user's shell.

    Attributes:
        folder: the current folder, which commands may change.
        environ: the environment variables, which commands may change.
        seconds: command -> how long its last run took.
        transcript: the commands and their output.
    """

    folder: Path
    environ: dict[str, str]
    seconds: dict[str, float] = field(default_factory=dict)
    transcript: list[str] = field(default_factory=list)

    def run(self, command: str, answers: str = "", returns: int = 0, attempts: int = 1) -> str:
        """Run a command; returns its output. Fails if its exit code is not `returns` in any of the `attempts`."""
        started = time.monotonic()
        with tempfile.NamedTemporaryFile() as left:
            done = subprocess.run(
                ["bash", "-c", f"trap 'env -0 >{left.name}' EXIT\n{command}"],
                cwd=self.folder,
                env=self.environ,
                input=answers,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=900,
                check=False,
            )
            variables = Path(left.name).read_text().split("\0")
        self.seconds[command] = time.monotonic() - started
        self.transcript += [
            f"$ {command}  # {self.seconds[command]:.0f} s",
            *_UNSEEN.sub("", done.stdout).splitlines(),
            "",
        ]
        if done.returncode != returns and attempts > 1:
            time.sleep(10)
            return self.run(command, answers, returns, attempts - 1)
        if done.returncode != returns:
            pytest.fail(f"{command} ended with {done.returncode}:\n{done.stdout}")
        self.environ = dict(line.partition("=")[::2] for line in variables if line)
        self.folder = Path(self.environ["PWD"])
        return done.stdout


def follow(blocks: Iterable[Block], shell: Shell) -> None:
    """Write the files and run the commands of blocks in order, and compare the output with the `text` blocks.

    Raises:
        pytest.fail.Exception: a command has an unexpected exit code, or does not print what the page shows.
    """
    printed = ""
    for block in blocks:
        if block.title:
            file = shell.folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, "utf-8")
        elif block.language == "sh":
            printed = ""
            for command, returns in block.codes():
                # A registry may be unavailable for a moment.
                printed += shell.run(command, returns=returns, attempts=3 if "pip install" in command else 1)
        elif block.language == "text" and (fault := difference(block.text, printed)):
            pytest.fail(f"{block.place}: {fault}\n\nThe page has\n{block.text}\nand it printed\n{printed}")


def difference(shown: str, printed: str) -> str:
    """What a page shows but a command did not print: the tables, or the first missing line; empty if all is there."""
    wanted, got = _tables(shown), _tables(printed)
    if wanted and wanted != got:
        return "the tables differ"
    lines = iter([line for line in _lines(printed) if not line.startswith("|")])
    for line in _lines(shown):
        if line.startswith("|"):
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in re.split(r"\s*…\s*", line)))
        if not any(pattern.fullmatch(each) for each in lines):
            return f"this line is not there, or not where it should be: {line}"
    return ""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in _UNSEEN.sub("", text).splitlines() if line.strip("… ")]


def _tables(text: str) -> list[list[str]]:
    """The tables: groups of adjacent lines that begin with `|`."""
    lines = (line.strip() for line in text.splitlines())
    return [list(rows) for is_table, rows in groupby(lines, lambda line: line.startswith("|")) if is_table]
