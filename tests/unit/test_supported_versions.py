"""docs/versions.md names the same versions as pyproject.toml and docs/compatibility.md."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text()
PAGE = (ROOT / "docs" / "versions.md").read_text()


def one_below(minor: str) -> str:
    """The minor version before this one: 1.12 for 1.13."""
    first, second = minor.split(".")
    return f"{first}.{int(second) - 1}"


def supported(what: str) -> str:
    """The second cell of the row that begins with `what`."""
    row = re.search(rf"^\| {what} \| ([^|]+) \|", PAGE, re.MULTILINE)
    assert row
    return row[1]


@pytest.mark.parametrize(
    ("what", "range_of_it"),
    [
        ("dbt-core", r'"dbt-core>=([\d.]+),<([\d.]+)"'),
        ("Python", r'requires-python = ">=([\d.]+),<([\d.]+)"'),
    ],
)
def test_range(what: str, range_of_it: str) -> None:
    found = re.search(range_of_it, PROJECT)
    assert found
    assert supported(what) == f"{found[1]} to {one_below(found[2])}"


def test_spark_lines_are_those_of_the_extras() -> None:
    extras = re.findall(r'"pyspark(?:\[connect\])?>=([\d.]+),<', PROJECT)
    assert supported("Spark") == ", ".join(sorted(set(extras)))


def test_paimon_versions_are_those_of_the_compatibility_page() -> None:
    (newest,) = re.findall(
        r"^\| 3\.5 \| .*?([\d.]+) \|$", (ROOT / "docs" / "compatibility.md").read_text(), re.MULTILINE
    )
    assert supported("Paimon").startswith(f"0.9.0 to {newest} ")
