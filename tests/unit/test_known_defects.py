"""Each known defect has an answer with a test file that exists, and each version has the right defects."""

from __future__ import annotations

from pathlib import Path

from reference.defects import ANSWERS, releases_without

from dbt.adapters.paimon.capabilities import Capability, Versions

TESTS = Path(__file__).parents[1]


def test_each_has_an_answer_and_a_test():
    assert {each for each in Capability if each.value.wrong} == set(ANSWERS)
    for capability, (answer, test) in ANSWERS.items():
        assert answer and (TESTS / test).is_file(), capability


def test_the_defects_of_a_version():
    of = {version: set(Versions.of(version).defects()) for version in ("0.9.0", "1.4.2", "2.0.0")}
    for rule in (each.value for each in ANSWERS):
        releases = releases_without(rule)
        if releases == "all":
            assert all(rule.wrong in found for found in of.values()), rule
        if releases == "before 1.4":
            assert rule.wrong in of["0.9.0"] and rule.wrong not in of["1.4.2"] | of["2.0.0"]
        if releases == "1.1 and newer":
            assert rule.wrong not in of["0.9.0"] and rule.wrong in of["1.4.2"] & of["2.0.0"]
    assert len(of["0.9.0"]) > len(of["1.4.2"]) >= len(of["2.0.0"]) > 0
