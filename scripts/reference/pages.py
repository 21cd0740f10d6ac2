"""The pages of docs/reference and the functions that generate them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from reference import cli, config_keys, defects, errors, macros, options, profile_keys
from reference.markdown import FOLDER

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "config-keys.md": config_keys.page,
    "profile-keys.md": profile_keys.page,
    "paimon-options.md": options.page,
    "macros.md": macros.macros,
    "operations.md": macros.operations,
    "cli.md": cli.page,
    "errors.md": errors.page,
    "known-defects.md": defects.page,
}


def written() -> dict[str, str]:
    """Generate every page; returns file name -> text."""
    return {name: page() for name, page in PAGES.items()}


def out_of_date() -> list[str]:
    """The names of the pages that differ from the generated ones, are missing, or are not generated at all."""
    wanted = written()
    there = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
