"""Options and fixtures for the tests of the wheel: a new user's shell, and the results table in docs/install.md.

In the shell, PIP_FIND_LINKS names a folder with the wheel, and with an empty wheel in place of dbt-core 1.12's parser,
whose source distribution downloads files during its build.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import doc_pages
import wheels
from doc_pages import ROOT, Shell

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
PAGE = ROOT / "docs" / "install.md"
# The page has the tests' results between these lines.
MARKS = ("<!-- figures -->", "<!-- end of figures -->")
HEADER = (
    "| install | Python | dbt-core | dbt-adapters | PySpark | pandas, pyarrow, numpy | environment | `pip install` | to the first rows |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)
# Lines with paths or hosts of this machine, and those that pip prints for each package.
_NOISE = re.compile(
    r"Looking in|Downloading |Collecting |Processing |Using cached |[━╸╺ ]|Requirement already|\[notice\]|Building wheels"
    r"|(Installing build|Getting requirements|Preparing metadata|Building wheel |Created wheel|Stored in)"
    r"|Installing collected|Successfully built|os info:|python path:"
)
# Commands of the test itself.
_NOT_TYPED = re.compile(r"\S+ -m venv |python -c |pip list ")
_WIDEST = 160
_ROWS = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every-python",
        action="store_true",
        help="install and run on Python 3.10 to 3.13, with each extra, and write what was seen into docs/install.md",
    )
    parser.addoption(
        "--transcript", type=Path, help="a file for what the first hour prints, with the time of each command"
    )
    parser.addoption("--repository", default="", help="the address of a Maven repository for the new user's jars")
    parser.addoption("--wheels", type=Path, help="the folder with the wheel, instead of one that is built here")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_ROWS] = []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = metafunc.config.getoption("--every-python")
    here = ".".join(map(str, sys.version_info[:2]))
    if "python_of_user" in metafunc.fixturenames:
        metafunc.parametrize("python_of_user", PYTHONS if every else (here,))
    if "python_by_hand" in metafunc.fixturenames:
        metafunc.parametrize("python_by_hand", PYTHONS if every else ())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that run only with `--every-python`, so that they do not count as skipped in CI."""
    if not config.getoption("--every-python"):
        items[:] = [item for item in items if "python_by_hand" not in getattr(item, "fixturenames", ())]


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> list[str]:
    """The rows of the page's table; tests append theirs."""
    return request.config.stash[_ROWS]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    rows = session.config.stash[_ROWS]
    if not session.config.getoption("--every-python") or exitstatus or not rows:
        return
    before, rest = PAGE.read_text().split(MARKS[0])
    table, after = rest.split(MARKS[1])
    # Rows of tests that did not run this time are kept.
    kept = {_what(row): row for row in table.splitlines(keepends=True) if row.startswith("| `")}
    kept |= {_what(row): row for row in rows}
    PAGE.write_text(f"{before}{MARKS[0]}\n{HEADER}{''.join(kept.values())}{MARKS[1]}{after}")


def _what(row: str) -> tuple[str, ...]:
    """The extra and the Python version of a row."""
    return tuple(row.split("|")[1:3])


@pytest.fixture(scope="session")
def uv() -> str:
    return wheels.find_uv()


@pytest.fixture(scope="session")
def links(uv: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the empty wheel."""
    folder = tmp_path_factory.mktemp("dist")
    if given := request.config.getoption("--wheels"):
        (wheel,) = (ROOT / given).glob("*.whl")
        shutil.copy(wheel, folder)
    else:
        Shell(ROOT, dict(os.environ)).run(f"{uv} build --wheel --out-dir {folder}", attempts=3)
    wheels.write_empty(wheels.PARSER, folder)
    return folder


@pytest.fixture
def shell(links: Path, request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    """A new user's shell, with an empty home folder and no caches."""
    environ = {key: value for key, value in os.environ.items() if key not in doc_pages.LEAKS}
    (tmp_path / "home").mkdir()
    # If the measured seconds go into a page, the JVM must have the same settings as a user's.
    timed = request.config.getoption("--every-python") or request.config.getoption("--transcript")
    environ |= {
        "HOME": str(tmp_path / "home"),
        "PIP_FIND_LINKS": str(links),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        # Java gets the home folder from the system, not from HOME.
        "JAVA_TOOL_OPTIONS": f"-Duser.home={tmp_path / 'home'} {'' if timed else doc_pages.SHORT_LIVED}".strip(),
    }
    if repository := request.config.getoption("--repository"):
        environ["DEFAULT_ARTIFACT_REPOSITORY"] = repository
    return Shell(tmp_path, environ)


@pytest.fixture
def transcript(shell: Shell, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """Write what a new user has seen to the file of `--transcript`, without paths and hosts of this machine."""
    yield
    if file := request.config.getoption("--transcript"):
        (ROOT / file).write_text(shown("\n".join(shell.transcript).replace(str(tmp_path), "~")), encoding="utf-8")


def shown(transcript: str) -> str:
    """The part of a shell's transcript that a reader needs."""
    blocks = [block for block in transcript.split("\n$ ") if not _NOT_TYPED.match(block.removeprefix("$ "))]
    lines = (line.rstrip() for block in blocks for line in f"$ {block.removeprefix('$ ')}".splitlines())
    kept = (line for line in lines if not _NOISE.match(line.strip()))
    return "".join(f"{line if len(line) <= _WIDEST else line[:_WIDEST] + '…'}\n" for line in kept)
