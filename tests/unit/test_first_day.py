"""Each first-day mistake in corpus/first_day.yml causes one message: what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark import __version__
from tests.unit.corpus.first_day import CASES, KINDS, message, target


def test_size() -> None:
    assert len(CASES) >= 60 and {case["kind"] for case in CASES} == set(KINDS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']}: {str(case['given'])[:60]}")
def test_mistake(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = message(case, tmp_path, monkeypatch)
    for part in ("what", "where", "remedy"):
        assert case[part].replace("{spark}", __version__) in said, f"{part} is not in: {said}"
    assert "Traceback" not in said and "\tat " not in said
    assert "secret@" not in said
    assert len(said) < 900, said


PROFILES = [case for case in CASES if case["kind"] == "profile"]


@pytest.mark.parametrize("case", PROFILES, ids=lambda case: str(case["given"]))
def test_a_profile_after_the_remedy_is_valid(case, tmp_path):
    target(tmp_path, {**case["given"], **case["typed"]})
