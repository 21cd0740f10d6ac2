"""Markdown for the pages: tables, code, links to other pages of docs/."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dbt.adapters.paimon.config_keys import Key

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference"
# Characters that are Markdown markup; an underscore within a word is not.
_MARKS = re.compile(r"[\\*\[\]]|(?<!\w)_|_(?!\w)")
# A cell without a value.
NOTHING = "\N{EN DASH}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; '' if there are no rows."""
    lines = [_row(cells) for cells in rows]
    return "\n".join([_row(head), "|---" * len(head) + "|", *lines]) if lines else ""


def _row(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {_cell(text)} " if text else " " for text in cells) + "|"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: object) -> str:
    """Text as inline code, even if it contains backticks."""
    shown = str(text)
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def plain(text: str) -> str:
    """Text with all Markdown escaped except code in backticks."""
    parts = text.split("`")
    for at in range(0, len(parts), 2):
        parts[at] = _MARKS.sub(r"\\\g<0>", parts[at]).replace("<", "&lt;")
    return "`".join(parts)


def codes(texts: Iterable[object]) -> str:
    """Several values as inline code, separated by commas."""
    return ", ".join(map(code, texts))


def page_link(page: str) -> str:
    """A link to a page of docs/, with the page's name as its text; '' for no page."""
    name = Path(page.partition("#")[0]).stem.replace("-", " ")
    return f"[{name}](../{page})" if page else ""


def explained(key: Key) -> str:
    """The meaning of a key, with a link to the page that explains it."""
    link = page_link(key.page)
    return f"{key.meaning} ({link})" if link else key.meaning


def takes(key: Key) -> str:
    """The values of a key."""
    return codes(key.values) if key.values else key.takes
