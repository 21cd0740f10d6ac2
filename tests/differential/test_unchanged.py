"""Random sequences of models with `skip_unchanged`: skipping never changes rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from differential import faults, unchanged

STEPS = 8


def test_skipping_changes_no_rows(
    tmp_path: Path, target: dict[str, Any], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if letter := request.config.getoption("--planted"):
        faults.plant(letter, monkeypatch)
    sequences = 12 if request.config.getoption("full") else 6
    seed = request.config.getoption("--sequence-seed")
    outcome = unchanged.Block(tmp_path, target | {"schema": "unchanged"}, seed, sequences).run(STEPS)
    print(dict(outcome.figures), *outcome.differences, sep="\n")
    assert outcome.differences == []
    assert outcome.figures["reused"] > sequences
