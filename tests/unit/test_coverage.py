"""docs/coverage.md names models, tests and pages that are there, and leaves no cell empty."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coverage.md"
ELSEWHERE = ("Flink only: ", "issue ")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


ROWS = [
    cells(line)
    for line in PAGE.read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| feature |")
]
MODELS = {path.stem for folder in ("models", "snapshots") for path in (ROOT / folder).rglob("*.sql")} | {
    path.stem for path in (ROOT / "snapshots").glob("*.yml")
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_row(row: list[str]) -> None:
    feature, here, tests, page = row
    assert feature and here
    if here.startswith(ELSEWHERE):
        assert tests == page == "-"
        return
    for model in re.findall(r"`((?:ex|int|fct|dim|mart|stg)_\w+)`", here):
        assert model in MODELS
    found = re.findall(r"`([^`]+)`", tests)
    assert found
    for test in found:
        assert (ROOT / "tests" / test).exists(), test
    link = re.fullmatch(r"\[[^\]]+\]\(([\w-]+\.md)\)", page)
    assert link and (PAGE.parent / link[1]).exists(), page


def test_every_example_is_named() -> None:
    """A worked model that no row names is one that nobody finds."""
    named = set(re.findall(r"`(ex_\w+)`", PAGE.read_text()))
    helpers = {model for model in MODELS if model.startswith("ex_")} - named
    assert not helpers
