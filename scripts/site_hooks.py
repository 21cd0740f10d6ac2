"""Hooks of mkdocs: the navigation is the index of docs/README.md, and links to code lead to the repository."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Any, Final

_SECTION: Final = re.compile(r"^## (?P<name>.+)$", re.MULTILINE)
_PAGE: Final = re.compile(r"^\| \[(?P<name>[^\]]+)\]\((?P<file>[^)#]+\.md)\)", re.MULTILINE)
# A link upwards, its text and its target: out of docs/, or from a folder in it.
_UPWARDS: Final = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>\.\./[^)]+)\)")
_INDEX: Final = "README.md"


def on_config(config: Any) -> Any:
    """Set the navigation: a section for each heading of the index, with the pages of its table."""
    text = Path(config.docs_dir, _INDEX).read_text("utf-8")
    found: list[Any] = [{"Home": _INDEX}]
    parts = _SECTION.split(text)
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        found.append({name: [{page["name"]: page["file"]} for page in _PAGE.finditer(part)]})
    config.nav = found
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Let links that leave docs/ lead to the repository; without its address only their text stays."""
    folder = posixpath.dirname(page.file.src_uri)

    def led(link: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join(folder, link["target"]))
        if not place.startswith("../"):
            return link[0]
        if not config.repo_url:
            return link["text"]
        place = place.removeprefix("../")
        kind = "blob" if PurePosixPath(place).suffix else "tree"
        return f"[{link['text']}]({config.repo_url.rstrip('/')}/{kind}/main/{place})"

    return _UPWARDS.sub(led, markdown)
