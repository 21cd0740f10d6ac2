"""The defects that differential tests plant can still be planted: the code that they change exists."""

from __future__ import annotations

import pytest

from differential import faults


@pytest.mark.parametrize("letter", sorted(faults.PATCHES))
def test_each_fault_can_be_planted(letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    faults.plant(letter, monkeypatch)
