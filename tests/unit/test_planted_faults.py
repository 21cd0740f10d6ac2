"""The defects that differential tests put back can still be put back: each has a place in the code."""

from __future__ import annotations

import pytest

from differential import faults


@pytest.mark.parametrize("letter", sorted(faults.PATCHES))
def test_each_has_its_place(letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    faults.plant(letter, monkeypatch)
