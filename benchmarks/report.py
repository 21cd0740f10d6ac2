"""The table of a benchmark, saved as JSON, Markdown and a picture, with the machine that it was measured on."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from tabulate import tabulate

PACKAGES = ("dbt-core", "dbt-spark", "dbt-paimon", "pyspark")


@dataclass
class Report:
    """Rows with named columns. The picture has a group of bars per row, one bar for each column in `drawn`."""

    name: str
    title: str
    columns: Sequence[str]
    rows: list[list[Any]]
    drawn: Sequence[str]
    notes: list[str] = field(default_factory=list)
    conditions: dict[str, Any] = field(default_factory=dict)
    # Whether the report was read from a file instead of made by this run.
    kept: bool = False

    def text(self) -> str:
        """The report as Markdown."""
        table = tabulate(self.rows, headers=self.columns, tablefmt="github", floatfmt=".2f")
        return "\n".join([f"### {self.title}", "", table, "", *(f"- {note}" for note in self.notes)])

    def save(self, folder: Path) -> None:
        """Write `<name>.json`, `<name>.md` and `<name>.png` to a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "title": self.title,
            "made": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "code": code(),
            "machine": machine(),
            "conditions": self.conditions,
            "columns": list(self.columns),
            "rows": self.rows,
            "notes": self.notes,
        }
        (folder / f"{self.name}.json").write_text(json.dumps(document, indent=1) + "\n")
        (folder / f"{self.name}.md").write_text(self.text() + "\n")
        self._draw(folder / f"{self.name}.png")

    @classmethod
    def load(cls, folder: Path, name: str, conditions: Mapping[str, Any]) -> Report | None:
        """The report in a folder; None if it does not exist, or is of other code or conditions."""
        path = folder / f"{name}.json"
        document = json.loads(path.read_text()) if path.exists() else {}
        if (document.get("code"), document.get("conditions")) != (code(), conditions):
            return None
        return cls(
            name,
            document["title"],
            document["columns"],
            document["rows"],
            drawn=(),
            notes=document["notes"],
            conditions=dict(conditions),
            kept=True,
        )

    def _draw(self, path: Path) -> None:
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot

        label, places = self.columns[0], [list(self.columns).index(name) for name in self.drawn]
        figure, axes = pyplot.subplots(figsize=(9, 0.35 * len(self.rows) * len(places) + 1.5))
        height = 0.8 / len(places)
        for number, (name, place) in enumerate(zip(self.drawn, places, strict=True)):
            axes.barh(
                [row + number * height for row in range(len(self.rows))],
                [row[place] or 0 for row in self.rows],
                height=height,
                label=name,
            )
        axes.set_yticks([row + 0.4 - height / 2 for row in range(len(self.rows))])
        labels = [" ".join(str(row[i]) for i in range(places[0]) if isinstance(row[i], str)) for row in self.rows]
        axes.set_yticklabels(labels or [label])
        axes.invert_yaxis()
        axes.legend()
        axes.set_title(self.title, fontsize=10)
        figure.tight_layout()
        figure.savefig(path, dpi=90)
        pyplot.close(figure)


@cache
def code() -> str:
    """The hash of the committed source of the adapter, which tells reports of different code apart."""
    asked = subprocess.run(
        ["git", "rev-parse", "HEAD:src"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return asked.stdout.strip()[:12]


def machine() -> dict[str, Any]:
    """The machine of the figures, without anything that identifies it."""
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
