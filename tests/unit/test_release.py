"""What scripts/release.py refuses, and how it changes the changelog."""

import subprocess
from pathlib import Path

import pytest
from release import VERSION_FILE, not_ready, notes_of, without_unreleased

ROOT = Path(__file__).parents[2]

CHANGELOG = """\
# Changelog

<!-- releases, the newest first -->

## [Unreleased]

### Added

- One,
  of two lines.

- Two.

### Fixed

- Three: `### no heading`.

## 0.1.0

### Added

- Everything.
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clean repository with version 0.1.0, on main."""
    file = tmp_path / VERSION_FILE
    file.parent.mkdir(parents=True)
    file.write_text('version = "0.1.0"\n')
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "All")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    name = ("-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *name, *arguments], cwd=folder, check=True)


@pytest.mark.parametrize("version", ["0.1.1", "0.2.0", "0.2.0rc1", "1.0.0"])
def test_ready(checkout: Path, version: str) -> None:
    assert not_ready(version, checkout) == []


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ("0.2", "not a version such as"),
        ("v0.2.0", "not a version such as"),
        ("next", "not a version such as"),
        ("0.2.0-rc1", "not a version such as"),
        ("0.1.0", "not newer than 0.1.0"),
        ("0.0.9", "not newer than 0.1.0"),
        ("0.1.0rc1", "not newer than 0.1.0"),
    ],
)
def test_invalid_versions(checkout: Path, version: str, problem: str) -> None:
    (said,) = not_ready(version, checkout)
    assert problem in said


def test_checkouts_that_cannot_be_released(checkout: Path) -> None:
    (checkout / "new.txt").write_text("")
    git(checkout, "tag", "v0.2.0")
    git(checkout, "switch", "--quiet", "--create", "topic")
    branch, changes, tag = not_ready("0.2.0", checkout)
    assert "this is topic" in branch
    assert "new.txt" in changes
    assert "v0.2.0 is there" in tag


def test_unreleased_changes_become_fragments() -> None:
    changelog, kinds = without_unreleased(CHANGELOG)
    assert changelog == CHANGELOG[: CHANGELOG.index("## [")] + CHANGELOG[CHANGELOG.index("## 0.1.0") :]
    assert kinds == {
        "added": "- One,\n  of two lines.\n\n- Two.\n",
        "fixed": "- Three: `### no heading`.\n",
    }
    assert without_unreleased(changelog) == (changelog, {})


def test_notes_are_the_section_of_the_version() -> None:
    changelog = without_unreleased(CHANGELOG)[0].replace("## 0.1.0", "## 0.2.0 (2026-12-01)\n\n- Now.\n\n## 0.1.0")
    assert notes_of("0.2.0", changelog) == "0.2.0 (2026-12-01)\n\n- Now.\n"


def test_no_line_of_this_changelog_is_lost() -> None:
    """Each line stays in the changelog or moves to a fragment, except blank lines and headings."""
    whole = (ROOT / "CHANGELOG.md").read_text()
    changelog, kinds = without_unreleased(whole)
    kept = [*changelog.splitlines(), *(line for text in kinds.values() for line in text.splitlines())]
    assert sorted(line for line in kept if line and line[0] != "#") == sorted(
        line for line in whole.splitlines() if line and line[0] != "#"
    )


def test_fragments_have_a_kind_that_the_changelog_shows() -> None:
    kinds = {
        line.split('"')[1]
        for line in (ROOT / "pyproject.toml").read_text().splitlines()
        if line.startswith("directory = ") and "changelog.d" not in line
    }
    assert set(without_unreleased((ROOT / "CHANGELOG.md").read_text())[1]) <= kinds
    for fragment in (ROOT / "changelog.d").iterdir():
        if fragment.name not in ("README.md", "template.md.jinja"):
            issue, kind, ending = fragment.name.split(".")
            assert (issue.isdigit() or issue.startswith("+")) and kind in kinds and ending == "md", fragment.name
