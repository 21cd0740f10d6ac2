"""The workflows in .github fit the project: the Makefile's targets, the supported Pythons, all folders of tests."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.name: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")}
PROJECT = (ROOT / "pyproject.toml").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()
PYTHONS = re.findall(r'"Programming Language :: Python :: (\d\.\d+)"', PROJECT)


def jobs(workflow: str) -> dict:
    return WORKFLOWS[workflow]["jobs"]


def commands(job: dict) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def matrix(job: dict) -> dict:
    return job["strategy"]["matrix"]


def made_by(command: str) -> list[str]:
    """The targets in a command that runs make: the words after `make` that are neither options nor variables."""
    targets = []
    for line in command.splitlines():
        for call in re.findall(r"(?:^|&&|;)\s*make\s+([^;&|]*)", line):
            words = re.sub(r"\S+='[^']*'|\S+=\"[^\"]*\"", "", call).split()
            targets += [word.strip('"') for word in words if "=" not in word and not word.startswith("-")]
    return targets


MADE = [
    (name, target)
    for name, workflow in WORKFLOWS.items()
    for job in workflow["jobs"].values()
    for command in commands(job)
    for target in made_by(command)
]


def test_the_make_targets_of_a_command() -> None:
    assert made_by("make --jobs=2 lint") == ["lint"]
    assert made_by("make functional FULL= FOLDERS='a b' ARGS=\"-k c\" docs") == ["functional", "docs"]
    assert made_by('cd x && make dist VERSION="${TAG#v}"\nmake "version-$VERSION"') == [
        "dist",
        "version-$VERSION",
    ]
    assert made_by("cmake x; echo make") == []


@pytest.mark.parametrize(("workflow", "target"), MADE)
def test_targets_are_in_the_makefile(workflow: str, target: str) -> None:
    there = set(re.findall(r"^([a-z0-9-]+):(?!=)", MAKEFILE, re.MULTILINE))
    if target != "version-$VERSION":
        assert target in there
    else:
        versions = re.search(r"^VERSIONS := (.*)$", MAKEFILE, re.MULTILINE)
        assert versions
        assert matrix(jobs(workflow)["versions"])["version"] == versions[1].split()


def test_every_workflow_makes_something() -> None:
    assert {name for name, _ in MADE} == {"ci.yml", "nightly.yml", "release.yml"}


def test_variables_are_read_by_the_makefile() -> None:
    """Make silently ignores a variable that the Makefile does not use."""
    named = set()
    for workflow in WORKFLOWS.values():
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                if "make " in step.get("run", ""):
                    named |= {*re.findall(r"\b([A-Z]+)=", step["run"]), *step.get("env", {})}
    assert named >= {"ARGS", "FOLDERS", "FULL", "VERSION"}
    assert [name for name in named if f"$({name}" not in MAKEFILE] == []


def test_pythons_are_those_of_the_classifiers() -> None:
    assert matrix(jobs("ci.yml")["unit"])["python"] == PYTHONS
    (setup,) = [step for step in jobs("release.yml")["wheel"]["steps"] if "setup-python" in step.get("uses", "")]
    assert sorted(setup["with"]["python-version"].split()) == sorted(PYTHONS)
    first, last = PYTHONS[0], PYTHONS[-1]
    after = f"3.{int(last.split('.')[1]) + 1}"
    assert f'requires-python = ">={first},<{after}"' in PROJECT


def test_the_wheel_is_tested_on_each_python() -> None:
    listed = re.search(
        r"^PYTHONS = \((.*)\)$", (ROOT / "tests" / "packaging" / "conftest.py").read_text(), re.MULTILINE
    )
    assert listed
    assert re.findall(r'"(.+?)"', listed[1]) == PYTHONS


def test_every_folder_of_functional_tests_is_in_one_shard() -> None:
    shards = matrix(jobs("ci.yml")["functional"])["include"]
    listed = [folder for shard in shards for folder in shard["folders"].split()]
    there = [path.name for path in (ROOT / "tests" / "functional").iterdir() if any(path.glob("**/test_*.py"))]
    assert sorted(listed) == sorted(there)


def test_only_the_upload_can_ask_for_an_identity() -> None:
    """All code in a job with `id-token: write` can publish, so no job that tests or builds has it."""
    may = {
        (name, key)
        for name, workflow in WORKFLOWS.items()
        for key, job in workflow["jobs"].items()
        if job["permissions"].get("id-token") == "write"
    }
    assert may == {("release.yml", "publish"), ("release.yml", "announce")}
    upload = jobs("release.yml")["publish"]
    assert upload["environment"]["name"] == "pypi"
    assert commands(upload) == ["make publish"]
