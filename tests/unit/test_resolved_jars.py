"""Jars that Ivy downloaded are found again without Ivy, as long as they are unchanged."""

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from dbt.adapters.paimon.spark.launch.packages import PackagePlan
from dbt.adapters.paimon.spark.launch.resolved_jars import remember, with_known

PLAN = PackagePlan((), ("org.apache.paimon:paimon-spark-3.5:0.9.0",), ("https://here",), "0.9.0")


@pytest.fixture(autouse=True)
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = tmp_path / "org.apache.paimon_paimon-spark-3.5-0.9.0.jar"
    path.write_text("classes")
    with_known.cache_clear()
    return path


def known(plan: PackagePlan) -> PackagePlan:
    with_known.cache_clear()
    return with_known(plan)


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


@pytest.mark.parametrize("what", ["gone", "changed", "another version", "another repository", "another setting"])
def test_not_known(what: str, jar: Path) -> None:
    remember(PLAN, f"file://{jar}")
    plan = PLAN
    if what == "gone":
        jar.unlink()
    elif what == "changed":
        jar.write_text("others")
    elif what == "another version":
        plan = replace(PLAN, packages=("org.apache.paimon:paimon-spark-3.5:1.0.0",))
    elif what == "another repository":
        plan = replace(PLAN, repositories=())
    else:
        plan = replace(PLAN, ivy=("spark.jars.ivySettings=x",))
    assert known(plan) == plan


def test_a_jar_with_changed_content_is_moved_aside(tmp_path: Path) -> None:
    jar = tmp_path / "ivy" / "jars" / "org.apache.paimon_paimon-spark-3.5-0.9.0.jar"
    copies = [
        tmp_path / "ivy" / "cache" / org / "paimon-spark-3.5" / "jars" / jar.name[18:]
        for org in ("org.apache.paimon", "org.other")
    ]
    for path in (jar, *copies):
        path.parent.mkdir(parents=True)
        path.write_text("classes")
    remember(PLAN, f"file://{jar}")
    # The changed files have the same size and times.
    times = jar.stat().st_atime_ns, jar.stat().st_mtime_ns
    for path in (jar, copies[0]):
        path.write_text("crooked")
        os.utime(path, ns=times)
    assert known(PLAN) == PLAN
    assert not jar.exists()
    assert jar.with_name(f"{jar.name}.changed").read_text() == "crooked"
    assert [copy.exists() for copy in copies] == [False, True]


def test_a_jar_with_only_a_new_time_is_known(jar: Path) -> None:
    remember(PLAN, f"file://{jar}")
    os.utime(jar)
    assert known(PLAN).jars == (str(jar),)


def test_a_note_written_by_version_0_1_0_is_ignored_and_replaced(jar: Path, tmp_path: Path) -> None:
    remember(PLAN, f"file://{jar}")
    (note,) = (tmp_path / "dbt-paimon").glob("jars-*.json")
    # Path, size and time, but no checksum.
    note.write_text(json.dumps({"packages": list(PLAN.packages), "jars": [[str(jar), 7, 345]]}))
    assert known(PLAN) == PLAN
    remember(PLAN, f"file://{jar}")
    assert known(PLAN).jars == (str(jar),)


@pytest.mark.parametrize("what", ["link", "writable"])
def test_a_note_that_others_may_have_written_is_ignored(what: str, jar: Path, tmp_path: Path) -> None:
    remember(PLAN, f"file://{jar}")
    (note,) = (tmp_path / "dbt-paimon").glob("jars-*.json")
    if what == "link":
        note.rename(tmp_path / "elsewhere")
        note.symlink_to(tmp_path / "elsewhere")
    else:
        note.chmod(0o666)
    assert known(PLAN) == PLAN


def test_a_folder_writable_by_others_is_not_used(jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    remember(PLAN, f"file://{jar}")
    (tmp_path / "dbt-paimon").chmod(0o777)
    assert known(PLAN) == PLAN
    # A different folder is used instead.
    remember(PLAN, f"file://{jar}")
    assert known(PLAN).jars == (str(jar),)


def test_a_plan_is_not_remembered_if_the_jar_of_a_package_is_missing(jar: Path) -> None:
    plan = replace(PLAN, packages=(*PLAN.packages, "org.xerial:sqlite-jdbc:3.0"))
    remember(plan, f"file://{jar}")
    assert known(plan) == plan


def test_a_damaged_note_is_ignored(jar: Path, tmp_path: Path) -> None:
    remember(PLAN, f"file://{jar}")
    for note in (tmp_path / "dbt-paimon").glob("jars-*.json"):
        note.write_text("{")
    assert known(PLAN) == PLAN
