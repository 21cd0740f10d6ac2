"""Hooks for mkdocs: builds the navigation from docs/README.md, and points links to code at the repository."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Any, Final

_SECTION: Final = re.compile(r"^## (?P<name>.+)$", re.MULTILINE)
_PAGE: Final = re.compile(r"^\| \[(?P<name>[^\]]+)\]\((?P<file>[^)#]+\.md)\)", re.MULTILINE)
# A link whose target begins with `../`: out of docs/, or out of one of its folders.
_UPWARDS: Final = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>\.\./[^)]+)\)")
_INDEX: Final = "README.md"


def on_config(config: Any) -> Any:
    """Set the navigation: one section per heading of the index, with the pages of its table."""
    text = Path(config.docs_dir, _INDEX).read_text("utf-8")
    found: list[Any] = [{"Home": _INDEX}]
    parts = _SECTION.split(text)
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        found.append({name: [{page["name"]: page["file"]} for page in _PAGE.finditer(part)]})
    config.nav = found
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Make links that lead out of docs/ point to the repository; without a repository URL, keep only their text."""
    folder = posixpath.dirname(page.file.src_uri)

    def redirected(link: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join(folder, link["target"]))
        if not place.startswith("../"):
            return link[0]
        if not config.repo_url:
            return link["text"]
        place = place.removeprefix("../")
        kind = "blob" if PurePosixPath(place).suffix else "tree"
        return f"[{link['text']}]({config.repo_url.rstrip('/')}/{kind}/main/{place})"

    return _UPWARDS.sub(redirected, markdown)
