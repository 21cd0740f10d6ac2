"""Draw docs/floor-plan.svg: the rooms of the adapter from top to bottom, their modules, and the rooms they import from.

Floors come from the contract `Rooms` in pyproject.toml, rooms and imports from the code. `--check` writes nothing and
exits with 1 if the picture is out of date.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).parent.parent
ADAPTER = ROOT / "src/dbt/adapters/paimon"
PICTURE = ROOT / "docs/floor-plan.svg"
_PACKAGE = "dbt.adapters.paimon"
# Pixels.
_WIDTH, _LINE, _PAD, _GAP = 1120, 17, 10, 8
_STYLE = """
  svg { font: 13px system-ui, sans-serif; background: #fff }
  .floor { fill: #f4f6fa; stroke: #c6cedc } .room { font-weight: 600; fill: #16345c }
  .says { fill: #333 } .modules { fill: #5b6472; font-size: 12px } .below { fill: #8a4b12; font-size: 12px }
  @media (prefers-color-scheme: dark) {
    svg { background: #14171c } .floor { fill: #1e232b; stroke: #3a4351 } .room { fill: #9cc4ff }
    .says { fill: #dde3ec } .modules { fill: #9aa5b5 } .below { fill: #e5ae7a }
  }
"""


@dataclass(frozen=True)
class Room:
    """A package of the adapter, or a module at its top level. `says`: the first line of its docstring."""

    name: str
    says: str
    modules: tuple[str, ...]
    imports: frozenset[str]


def floors(pyproject: str) -> list[list[str]]:
    """The rooms of each floor, from top to bottom, in the contract's order."""
    rooms = pyproject.partition('name = "Rooms"')[2].partition("layers = [")[2].partition("]")[0]
    return [floor.split(" | ") for floor in re.findall(r'"([^"]+)"', rooms)]


def room(name: str) -> Room:
    """A room with the first line of its docstring, its modules, and the rooms from which they import."""
    folder = ADAPTER / name
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [ADAPTER / f"{name}.py"]
    head = folder / "__init__.py" if folder.is_dir() else files[0]
    says = (ast.get_docstring(ast.parse(head.read_text("utf-8"))) or "").split("\n")[0]
    modules = tuple(
        str(file.relative_to(folder).with_suffix("")) for file in files if folder.is_dir() and file.stem != "__init__"
    )
    return Room(name, says, modules, frozenset().union(*map(_imports, files)) - {name})


def _imports(file: Path) -> frozenset[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PACKAGE):
            below = (node.module or "").removeprefix(_PACKAGE).lstrip(".")
            found |= {below.split(".")[0]} if below else {alias.name for alias in node.names}
    return frozenset(found)


def picture(plan: list[list[Room]]) -> str:
    """The plan as SVG."""
    order = [each.name for floor in plan for each in floor]
    parts: list[str] = []
    top = _PAD
    for floor in plan:
        width = (_WIDTH - 2 * _PAD - _GAP * (len(floor) - 1)) // len(floor)
        texts = [_lines(each, order, width) for each in floor]
        height = max(map(len, texts)) * _LINE + 2 * _PAD
        for column, lines in enumerate(texts):
            left = _PAD + column * (width + _GAP)
            parts.append(f'<rect class="floor" x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>')
            for row, (kind, text) in enumerate(lines, 1):
                y = top + _PAD - 4 + row * _LINE
                parts.append(f'<text class="{kind}" x="{left + _PAD}" y="{y}">{escape(text)}</text>')
        top += height + _GAP
    size = f'width="{_WIDTH}" height="{top}" viewBox="0 0 {_WIDTH} {top}"'
    title = "<title>The rooms of dbt-paimon: each imports from those below it only</title>"
    body = "\n".join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return f"{head}\n{title}\n<style>{_STYLE}</style>\n{body}\n</svg>\n"


def _lines(each: Room, order: list[str], width: int) -> list[tuple[str, str]]:
    letters = width // 7
    below = [name for name in order if name in each.imports]
    return [
        ("room", each.name),
        *(("says", line) for line in wrap(each.says, letters)),
        *(("modules", line) for line in wrap(" · ".join(each.modules), letters)),
        *(("below", line) for line in wrap("imports " + ", ".join(below) if below else "", letters)),
    ]


def drawn() -> str:
    """Draw the picture from the current code."""
    plan = floors((ROOT / "pyproject.toml").read_text("utf-8"))
    return picture([[room(name) for name in floor] for floor in plan])


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PICTURE.write_text(drawn(), "utf-8")
    elif PICTURE.read_text("utf-8") != drawn():
        sys.exit("docs/floor-plan.svg is out of date. Run `make floor-plan` and commit it.")
