"""`python -m benchmarks.history`: write benchmarks/results/history.md, the committed versions of each table."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

from tabulate import tabulate

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
_INTRO = """# How each figure changed

One table per benchmark that was committed more than once; `make bench-history` writes this page from Git. Each column
is one measurement, named by its day and its commit. Compare the contestants of one column: another day may have had
another machine.
"""


def versions(path: Path) -> dict[str, dict[str, Any]]:
    """The committed versions of a result, oldest first: day and commit -> the document."""
    name = path.relative_to(ROOT).as_posix()
    found = {}
    for line in _git(
        "log", "--reverse", "--date=short", "--format=%ad %h", "--diff-filter=AM", "--", name
    ).splitlines():
        found[line] = json.loads(_git("show", f"{line.split()[1]}:{name}"))
    return found


def table(documents: dict[str, dict[str, Any]]) -> str:
    """One row per contestant and figure (means are left out), one column per version."""
    cells: dict[str, dict[str, Any]] = defaultdict(dict)
    for when, document in documents.items():
        columns = document["columns"]
        for row in document["rows"]:
            names = [str(value) for value in row if isinstance(value, str)]
            for column, value in zip(columns, row, strict=True):
                if isinstance(value, (int, float)) and "mean" not in column:
                    cells[f"{' '.join(names)}: {column}"][when] = value
    rows = [[name, *(values.get(when) for when in documents)] for name, values in cells.items() if len(values) > 1]
    return str(tabulate(rows, headers=["", *documents], tablefmt="github", floatfmt=".2f"))


def main() -> None:
    """Write the page."""
    parts = [_INTRO]
    for path in sorted(RESULTS.glob("*.json")):
        documents = versions(path)
        if len(documents) > 1:
            parts += [f"## {list(documents.values())[-1]['title']}", "", table(documents), ""]
    (RESULTS / "history.md").write_text("\n".join(parts))


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
