"""Makes a release, except for the upload (docs/releasing.md): `make release VERSION=0.3.0`.

The release is made in its own worktree. Only if everything passes is it merged into main and tagged; a release that
fails leaves the checkout unchanged.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).parents[1]
VERSION_FILE = "src/dbt/adapters/paimon/__version__.py"
# Changes noted before changelog.d existed; they go into the first release that this script makes.
UNRELEASED = re.compile(r"^## \[Unreleased\]\n(?P<text>.*?)(?=^## )", re.MULTILINE | re.DOTALL)
KIND = re.compile(r"^### (?P<name>\w+)\n(?P<text>.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)


def main(arguments: list[str]) -> int:
    """Make the release whose version is in `arguments`; print the reason and return 1 if it cannot be made."""
    if len(arguments) != 1:
        print("Which version? make release VERSION=0.3.0", file=sys.stderr)
        return 1
    version = arguments[0]
    if problems := not_ready(version, ROOT):
        print("\n".join(problems), file=sys.stderr)
        return 1
    tree = ROOT / "target" / "release" / version
    if tree.exists():  # left by a failed release
        git(ROOT, "worktree", "remove", "--force", str(tree))
    git(ROOT, "worktree", "add", "--quiet", "--detach", str(tree))
    try:
        make_release(version, tree)
        git(ROOT, "merge", "--quiet", "--ff-only", git(tree, "rev-parse", "HEAD"))
    except subprocess.CalledProcessError as error:
        print(
            f"\nNo release: `{' '.join(error.cmd)}` ended with {error.returncode}. This checkout is unchanged; "
            f"see {tree.relative_to(ROOT)}.",
            file=sys.stderr,
        )
        return 1
    notes = notes_of(version, (ROOT / "CHANGELOG.md").read_text())
    # Verbatim, because Markdown headings look like comments to git.
    git(ROOT, "tag", "--annotate", "--cleanup=verbatim", "--file=-", f"v{version}", text=notes)
    for built in ("dist", "target/shipped"):
        shutil.rmtree(ROOT / built, ignore_errors=True)
        shutil.move(tree / built, ROOT / built)
    git(ROOT, "worktree", "remove", "--force", str(tree))
    print(f"\n{version} is in dist/. The release workflow uploads what it builds from the tag:")
    print(f"  git push --atomic origin main v{version}")
    return 0


def not_ready(version: str, root: Path) -> list[str]:
    """The reasons not to release `version` from the checkout at `root`, one per line."""
    problems = []
    found = re.search(r'"(.+)"', (root / VERSION_FILE).read_text())
    assert found
    try:
        if str(Version(version)) != version or len(Version(version).release) != 3:
            problems.append(f"{version} is not a version such as 0.3.0 or 0.3.0rc1")
        elif Version(version) <= Version(found[1]):
            problems.append(f"{version} is not newer than {found[1]}, which {VERSION_FILE} has")
    except InvalidVersion:
        problems.append(f"{version} is not a version such as 0.3.0 or 0.3.0rc1")
    if (branch := git(root, "branch", "--show-current")) != "main":
        problems.append(f"releases are made from main, and this is {branch or 'a commit without a branch'}")
    if changed := git(root, "status", "--porcelain"):
        problems.append(f"there are changes that are not committed:\n{changed}")
    if git(root, "tag", "--list", f"v{version}"):
        problems.append(f"the tag v{version} is there already")
    return problems


def make_release(version: str, tree: Path) -> None:
    """Write, build and check the release in `tree`, and commit it there."""
    changelog, fragments = without_unreleased((tree / "CHANGELOG.md").read_text())
    (tree / "CHANGELOG.md").write_text(changelog)
    for kind, text in fragments.items():
        (tree / "changelog.d" / f"+unreleased.{kind}.md").write_text(text)
    # Without `dist` before it, `dist-check` would check an existing build.
    for targets in ("release-files", "lint", "unit", "dist", "dist-check"):
        make(tree, targets, f"VERSION={version}")
    # Updates the figures in docs/install.md, which is part of the release.
    make(tree, "wheel-check", "ARGS=--every-python --wheels dist")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", f"Release {version}")


def without_unreleased(changelog: str) -> tuple[str, dict[str, str]]:
    """Split off the section of unreleased changes: the changelog without it, and the text of each kind of change."""
    section = UNRELEASED.search(changelog)
    if not section:
        return changelog, {}
    kinds = {kind["name"].lower(): kind["text"].strip() + "\n" for kind in KIND.finditer(section["text"])}
    return changelog[: section.start()] + changelog[section.end() :], kinds


def notes_of(version: str, changelog: str) -> str:
    """The changelog's section of a release."""
    section = re.search(rf"^## {re.escape(version)} .*?(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    assert section
    return section[0].removeprefix("## ").strip() + "\n"


def make(tree: Path, *arguments: str) -> None:
    """Run make in `tree`."""
    print(f"== make {' '.join(arguments)}", flush=True)
    subprocess.run(["make", "--no-print-directory", *arguments], cwd=tree, check=True)


def git(tree: Path, *arguments: str, text: str | None = None) -> str:
    """Run git in `tree` with `text` as its input, and return its output."""
    done = subprocess.run(["git", *arguments], cwd=tree, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
