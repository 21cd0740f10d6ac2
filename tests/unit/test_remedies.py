"""Applies each remedy in a message about a config, as a user would; afterwards the config is valid."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit import corpus
from tests.unit.corpus import Case, Warned, remedies

BAD = corpus.bad()


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.id)
def test_errors(case: Case):
    typed = remedies.typed(case)
    assert typed, f"add to remedies.yml: {remedies.remedy_of(remedies.problem_of(case))}"
    wrong = [(after.config, found) for after in typed if (found := remedies.still_wrong(case, after))]
    assert not wrong or (remedies.is_choice(case) and len(wrong) < len(typed)), wrong


@pytest.mark.parametrize("warned", corpus.warned(), ids=lambda warned: warned.where)
def test_warnings(warned: Warned):
    case = Case("warned", warned.config, warned.where, columns=tuple(warned.columns.items()))
    assert warned.typed
    for patch in warned.typed:
        after = remedies.patched(case, patch)
        said = replace(warned, config=after.config, columns=dict(after.columns)).told(warned.versions[0])
        assert said == (), after.config


def test_count():
    assert sum(len(remedies.typed(case)) for case in BAD) >= 1_000
