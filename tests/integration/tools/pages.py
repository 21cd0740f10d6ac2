"""The examples in docs/tools: patches, commands, and files, whose first line is a comment with their name."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[3] / "docs" / "tools"
_BLOCK: Final = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_NAME: Final = re.compile(r"^(#|--|//) (?P<name>[\w./-]*\.\w+)$")


def blocks(page: str, language: str) -> list[str]:
    """The contents of a page's code blocks in a language."""
    found = _BLOCK.finditer((FOLDER / page).read_text())
    return [block["text"] for block in found if block["language"] == language]


def files(page: str) -> dict[str, str]:
    """Name -> text of each file on a page, without the line with the name."""
    found = {}
    for block in _BLOCK.finditer((FOLDER / page).read_text()):
        first, _, rest = block["text"].partition("\n")
        if name := _NAME.match(first):
            found[name["name"]] = rest
    return found


def commands(page: str) -> list[str]:
    """The commands in a page's shell blocks, without comments."""
    lines = (line.partition("  #")[0].strip() for block in blocks(page, "sh") for line in block.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def write(folder: Path, page: str, places: Mapping[str, str] = {}) -> None:
    """Write a page's files into a folder; `places` maps paths and names on the page to this machine's."""
    for name, text in files(page).items():
        here = functools.reduce(lambda so_far, place: so_far.replace(*place), places.items(), text)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(here)
