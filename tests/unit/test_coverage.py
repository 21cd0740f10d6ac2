"""The models, tests and pages in docs/coverage.md exist, and its tests have passed where the page says so."""

import ast
import json
import os
import re
import subprocess
import sys
from functools import cache

import pytest

from coverage_proof import IN_CI, PAGE, ROOT, UNPROVED, Feature, faults, features, without_parameters

FEATURES = features(PAGE.read_text())
MODELS = {
    path.stem for folder in ("models", "examples/models", "snapshots") for path in (ROOT / folder).rglob("*.sql")
} | {path.stem for path in (ROOT / "snapshots").glob("*.yml")}
RESULTS = ROOT / "docs" / "compatibility"


def collected(among: list[Feature], *arguments: str) -> set[str]:
    """The tests that pytest collects in the files that these rows name, without parameters."""
    files = sorted({file_of(test) for feature in among for test in feature.tests})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    command += [*arguments, *files]
    # PYTEST_ADDOPTS is for the run that contains this test.
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return {without_parameters(line) for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name[:60])
def test_row(feature: Feature) -> None:
    assert feature.name and feature.here
    for model in re.findall(r"`((?:ex|int|fct|dim|mart|stg)_\w+)`", feature.here):
        assert model in MODELS
    link = re.fullmatch(r"\[[^\]]+\]\(([\w/-]+\.md)\)", feature.page)
    assert link and (PAGE.parent / link[1]).exists(), feature.page
    unproved = feature.proof.startswith(UNPROVED)
    assert unproved or feature.proof == IN_CI or feature.run[0], feature.proof
    assert bool(feature.tests) is not unproved
    for test in feature.tests:
        assert re.fullmatch(r"[\w/]+\.py::(\w+::)?\w+", test), test


def test_each_test_is_there() -> None:
    """If a row says that CI proves it, CI runs its tests."""
    in_ci = [feature for feature in FEATURES if feature.proof == IN_CI]
    others = [feature for feature in FEATURES if feature.proof != IN_CI]
    for among, arguments in ((in_ci, ("-m", "not full")), (others, ())):
        named = {test for feature in among for test in feature.tests}
        assert named - collected(among, *arguments) == set()


@pytest.mark.parametrize(
    "feature", [feature for feature in FEATURES if feature.run[0]], ids=lambda feature: feature.name[:60]
)
def test_a_committed_run_has_shown_it(feature: Feature) -> None:
    """A run on the row's day or later passed the test in its present form; the adapter may have changed since."""
    version, day = feature.run
    runs = [json.loads(path.read_text()) for path in RESULTS.rglob(f"paimon-{version}-*.json")]
    for test in feature.tests:
        commits = {sitting["commit"] for run in runs for sitting in run["sittings"] if passed(sitting["tests"], test)}
        assert commits, f"no committed run on Paimon {version} has passed {test}"
        code = code_of((ROOT / file_of(test)).read_text())
        days = [day_of(commit) for commit in commits if code_at(commit, file_of(test)) == code]
        assert max(days, default="") >= day, f"{test}: run it again (make compat, make flink, …)"


def passed(tests: dict[str, str], test: str) -> bool:
    found = {outcome for nodeid, outcome in tests.items() if without_parameters(nodeid) == test}
    return "passed" in found and "failed" not in found


def file_of(test: str) -> str:
    return f"tests/{test.partition('::')[0]}"


@cache
def code_at(commit: str, file: str) -> str:
    """The code of a file at a commit; empty if the file was not there."""
    return code_of(git("show", f"{commit}:{file}")) if git("ls-tree", commit, file) else ""


def code_of(text: str) -> str:
    """The syntax tree of Python code as text, without comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[:1] = []
    return ast.dump(tree)


def day_of(commit: str) -> str:
    return git("log", "-1", "--format=%cs", commit)


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this clone does not have the commit of a result: {done.stderr}")
    return done.stdout.strip()


def test_every_example_is_named() -> None:
    """Readers find an example model through the row that names it."""
    named = set(re.findall(r"`(ex_\w+)`", PAGE.read_text()))
    assert not {model for model in MODELS if model.startswith("ex_")} - named


def test_a_run_is_compared_with_the_page() -> None:
    """A skipped or missing test of a CI row is a fault; a test whose file did not run is not."""
    proved = Feature("f", "here", ("a.py::test",), IN_CI, "")
    newer = Feature("g", "here", ("a.py::test",), "Paimon 2.0.0, 2026-11-28", "")
    assert faults([proved], {"a.py::test": {"passed", "skipped"}}) == []
    assert faults([proved], {"a.py::test": {"skipped"}}) == ["f: a.py::test skipped"]
    assert faults([proved], {"a.py::other": {"passed"}}) == ["f: a.py::test did not run"]
    assert faults([proved], {"b.py::test": {"passed"}}) == faults([newer], {"a.py::test": {"skipped"}}) == []
