"""Markdown of the pages: tables, code, links to other pages of docs/."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dbt.adapters.paimon.keys import Key

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference"
# What would be Markdown in a text; an underscore within a word is none.
_MARKS = re.compile(r"[\\*\[\]]|(?<!\w)_|_(?!\w)")
# A cell without a value.
NOTHING = "\N{EN DASH}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; '' without rows."""
    lines = [_row(cells) for cells in rows]
    return "\n".join([_row(head), "|---" * len(head) + "|", *lines]) if lines else ""


def _row(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {_cell(text)} " if text else " " for text in cells) + "|"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: object) -> str:
    """Text as code, whatever is in it."""
    shown = str(text)
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def plain(text: str) -> str:
    """Text of which only what is in backticks is Markdown."""
    parts = text.split("`")
    for at in range(0, len(parts), 2):
        parts[at] = _MARKS.sub(r"\\\g<0>", parts[at]).replace("<", "&lt;")
    return "`".join(parts)


def codes(texts: Iterable[object]) -> str:
    """Several texts as code."""
    return ", ".join(map(code, texts))


def page_link(page: str) -> str:
    """A link to a page of docs/, named after it; '' without one."""
    name = Path(page.partition("#")[0]).stem.replace("-", " ")
    return f"[{name}](../{page})" if page else ""


def explained(key: Key) -> str:
    """What a key means, and where it is explained."""
    link = page_link(key.page)
    return f"{key.meaning} ({link})" if link else key.meaning


def takes(key: Key) -> str:
    """The values of a key."""
    return codes(key.values) if key.values else key.takes
