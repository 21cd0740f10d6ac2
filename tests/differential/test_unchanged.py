"""Random sequences of models that may be skipped, and stale keys that are planted among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from differential import faults, unchanged

SEQUENCES, STEPS = 12, 8


def run(
    folder: Path, target: dict[str, Any], schema: str, request: pytest.FixtureRequest
) -> unchanged.Outcome:
    seed = request.config.getoption("--sequence-seed")
    outcome = unchanged.Block(folder, target | {"schema": schema}, seed, SEQUENCES).run(STEPS)
    print(dict(outcome.figures), *outcome.differences, sep="\n")
    return outcome


def test_skipping_changes_no_rows(
    tmp_path: Path, target: dict[str, Any], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if letter := request.config.getoption("--planted"):
        faults.plant(letter, monkeypatch)
    outcome = run(tmp_path, target, "unchanged", request)
    assert outcome.differences == []
    assert outcome.figures["reused"] > SEQUENCES
