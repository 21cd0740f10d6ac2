# /// script
# requires-python = ">=3.10"
# dependencies = ["pexpect>=4.9,<5"]
# ///
"""Write docs/shell-recording.txt: the output of `dbt-paimon shell` in this project, each line with its time in seconds.

Run `make shell-recording` after `make run`. It edits a model, and restores it at the end.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pexpect

ROOT = Path(__file__).parent.parent
RECORDING = ROOT / "docs" / "shell-recording.txt"
MODEL = ROOT / "models" / "marts" / "mart_carrier_punctuality.sql"
SECONDS = 300
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r")
_DBTS_CLOCK = re.compile(r"^\d\d:\d\d:\d\d  ?")
PROMPT = "dbt> "


class Recording:
    """A shell on a terminal. `lines`: its output, each line with the seconds since the last action."""

    def __init__(self) -> None:
        self._shell = pexpect.spawn(
            str(ROOT / ".venv" / "bin" / "dbt-paimon"),
            ["shell"],
            cwd=ROOT,
            env={**os.environ, "TERM": "dumb", "DBT_USE_COLORS": "false", "DBT_PRINTER_WIDTH": "70"},
            encoding="utf-8",
            timeout=SECONDS,
            dimensions=(50, 200),
            echo=False,
        )
        self._begun = time.monotonic()
        self._typed = ""
        self.lines = [f"{'':>7}  $ dbt-paimon shell"]

    def type(self, text: str) -> None:
        """Type a command."""
        self._begin_action(f"{PROMPT}{text}")
        self._typed = text
        self._shell.sendline(text)

    def save(self, path: Path, text: str) -> None:
        """Save a file, as an editor does."""
        self._begin_action(f"(saved {path.relative_to(ROOT)})")
        path.write_text(text)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._begin_action("(Ctrl-C)")
        self._shell.sendintr()

    def until_prompt(self) -> None:
        """Record the output until the next prompt."""
        while self._shell.expect_exact(["\r\n", PROMPT]) == 0:
            self._record_line()

    def until(self, part: str) -> None:
        """Record the output up to the first line that contains `part`, including that line."""
        while True:
            self._shell.expect_exact("\r\n")
            self._record_line()
            if part in self._shell.before:
                return

    def _record_line(self) -> None:
        line = _DBTS_CLOCK.sub("", _ESCAPES.sub("", self._shell.before)).rstrip()
        if line and line != self._typed:
            self.lines.append(f"{time.monotonic() - self._begun:6.1f}s  {line}")

    def _begin_action(self, what: str) -> None:
        self._begun = time.monotonic()
        self.lines += ["", f"{'':>7}  {what}"]


def main() -> None:
    """Record a session."""
    recording = Recording()
    recording.until_prompt()
    name = MODEL.stem
    for command in (f"run -s {name}", f"run -s {name}", f"test -s {name}"):
        recording.type(command)
        recording.until_prompt()
    recording.type("watch")
    recording.until("Ctrl-C ends it.")
    before = MODEL.read_text()
    try:
        time.sleep(2)
        for number in (1, 2):
            recording.save(MODEL, f"{before}-- edit {number}\n")
            recording.until("Done. PASS")
            recording.until(" s")
            time.sleep(3)
    finally:
        MODEL.write_text(before)
    recording.interrupt()
    recording.until_prompt()
    RECORDING.write_text("\n".join(recording.lines) + "\n")
    print(f"{len(recording.lines)} lines in {RECORDING.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
