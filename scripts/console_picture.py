# /// script
# requires-python = ">=3.10"
# dependencies = ["rich>=14,<15"]
# ///
"""Draw docs/make-run.svg: the output of `make run` on a terminal, without START lines and data tests.

Run `uv run --script scripts/console_picture.py` or `make console-picture`. Lines with local paths are left out.
"""

from __future__ import annotations

import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "make-run.svg"
_WIDTH = 160
_LEFT_OUT = re.compile(r" START |Batch \d| PASS | of \d+ SKIP|^\s*$|\[RUN\]|/\S*/target|^\.venv|^  \S+/ ")
_PLAIN = re.compile(r"\x1b\[[0-9;]*m")


def output_lines() -> list[str]:
    """Run the command on a terminal, and return its output lines with colours.

    Raises:
        SystemExit: the command failed.
    """
    found = bytearray()

    def read(terminal: int) -> bytes:
        data = os.read(terminal, 4096)
        found.extend(data)
        return data

    os.environ |= {"COLUMNS": str(_WIDTH), "DBT_PRINTER_WIDTH": "84"}
    status = pty.spawn(["make", "-C", str(ROOT), "--no-print-directory", "run"], read)
    if status:
        sys.exit(f"make run ended with {os.waitstatus_to_exitcode(status)}")
    return found.decode("utf-8", "replace").replace("\r", "").splitlines()


def main() -> None:
    """Write the picture."""
    lines = [line for line in output_lines() if not _LEFT_OUT.search(_PLAIN.sub("", line))]
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=_WIDTH, file=nowhere, force_terminal=True)
        for line in lines:
            console.print(Text.from_ansi(line), overflow="ellipsis", no_wrap=True)
        # The names of clip paths contain a hash of the picture, so the same text always gives the same file.
        PICTURE.write_text(console.export_svg(title="make run"), encoding="utf-8")
    print(f"{len(lines)} lines in {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
