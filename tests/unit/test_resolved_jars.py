"""Jars that Ivy brought are found again without it, as long as they are there as they were."""

from dataclasses import replace
from pathlib import Path

import pytest

from dbt.adapters.paimon.packages import PackagePlan
from dbt.adapters.paimon.resolved_jars import remember, with_known

PLAN = PackagePlan((), ("org.apache.paimon:paimon-spark-3.5:0.9.0",), ("https://here",), "0.9.0")


@pytest.fixture(autouse=True)
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = tmp_path / "org.apache.paimon_paimon-spark-3.5-0.9.0.jar"
    path.write_text("classes")
    with_known.cache_clear()
    return path


def known(plan: PackagePlan, *settings: str) -> PackagePlan:
    with_known.cache_clear()
    return with_known(plan, settings)


def test_remembered(jar: Path) -> None:
    assert known(PLAN) == PLAN
    remember(PLAN, f"file://{jar}")
    assert known(PLAN) == replace(PLAN, jars=(str(jar),), packages=(), repositories=())


def test_own_jars_stay_first(jar: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.jar"
    own.write_text("")
    plan = replace(PLAN, jars=(str(own),))
    remember(plan, f"file://{own},file://{jar}")
    assert known(plan).jars == (str(own), str(jar))


@pytest.mark.parametrize(
    "what", ["gone", "changed", "another version", "another repository", "another setting"]
)
def test_not_known(what: str, jar: Path) -> None:
    remember(PLAN, f"file://{jar}")
    plan, settings = PLAN, ()
    if what == "gone":
        jar.unlink()
    elif what == "changed":
        jar.write_text("others")
    elif what == "another version":
        plan = replace(PLAN, packages=("org.apache.paimon:paimon-spark-3.5:1.0.0",))
    elif what == "another repository":
        plan = replace(PLAN, repositories=())
    else:
        settings = ("spark.jars.ivySettings=x",)
    assert known(plan, *settings) == plan


def test_a_package_whose_jar_is_not_seen_is_not_remembered(jar: Path) -> None:
    plan = replace(PLAN, packages=(*PLAN.packages, "org.xerial:sqlite-jdbc:3.0"))
    remember(plan, f"file://{jar}")
    assert known(plan) == plan


def test_a_damaged_note_is_none(jar: Path, tmp_path: Path) -> None:
    remember(PLAN, f"file://{jar}")
    for note in (tmp_path / "dbt-paimon").glob("jars-*.json"):
        note.write_text("{")
    assert known(PLAN) == PLAN
