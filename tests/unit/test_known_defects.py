"""Each known defect names a test file that exists, and each version has the right defects."""

from __future__ import annotations

from pathlib import Path

from dbt.adapters.paimon.capabilities import Versions, known_defects

TESTS = Path(__file__).parents[1]


def test_each_has_an_answer_and_a_test():
    for defect in known_defects():
        assert defect.wrong and defect.answer and (TESTS / defect.test).is_file(), defect


def test_the_defects_of_a_version():
    of = {version: set(Versions.of(version).defects()) for version in ("0.9.0", "1.4.2", "2.0.0")}
    for defect in known_defects():
        if defect.releases == "all":
            assert all(defect.wrong in found for found in of.values()), defect
        if defect.releases == "before 1.4":
            assert defect.wrong in of["0.9.0"] and defect.wrong not in of["1.4.2"] | of["2.0.0"]
        if defect.releases == "1.1 and newer":
            assert defect.wrong not in of["0.9.0"] and defect.wrong in of["1.4.2"] & of["2.0.0"]
    assert len(of["0.9.0"]) > len(of["1.4.2"]) >= len(of["2.0.0"]) > 0
