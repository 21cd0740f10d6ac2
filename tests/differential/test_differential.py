"""Compares random sequences, and those that once differed, with the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from differential import draw, draw_families, faults, keep, plan, run

REGRESSIONS = Path(__file__).parent / "regressions"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.getoption
    if "block" in metafunc.fixturenames:
        only = option("--sequence-only")
        first, count = option("--sequence-from"), option("--sequences")
        blocks = draw.by_zone(only) if only else draw.blocks(first, count)
        metafunc.parametrize("block", blocks, ids=[f"from {block[0]}" for block in blocks])


@pytest.fixture
def planted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The macros of the defect that `--planted` puts back; empty without the option."""
    letter = request.config.getoption("--planted")
    return faults.plant(letter, monkeypatch) if letter else {}


class TestSequences:
    def test_drawn(
        self,
        block: Sequence[int],
        request: pytest.FixtureRequest,
        target: dict[str, Any],
        planted: dict[str, str],
        tmp_path: Path,
        record_property: Any,
    ) -> None:
        option = request.config.getoption
        seed, known = option("--sequence-seed"), set(option("--known"))
        state = keep.State(option("--sequence-state"), seed)
        figures, fresh = state.figures(block), []
        if figures is None:
            plans = [draw.drawn(seed, number) for number in block]
            outcome = run.run(tmp_path / "0", plans, target | {"schema": f"d{block[0]}"}, planted)
            figures = outcome.figures
            fresh = [found for found in outcome.differences if not known & set(found.traits)]
            figures["differences"], figures["known differences"] = (
                len(fresh),
                len(outcome.differences) - len(fresh),
            )
            print(*outcome.differences, sep="\n")
        for name, value in figures.items():
            record_property(f"differential {name}", value)
        if not fresh:
            state.done(block, figures)
            return

        folder = request.config.rootpath / "target" / "differential"
        kept = [keep.save(folder, found.plan) for found in fresh]
        if option("--shrink"):

            def again(smaller: plan.Plan, number: int) -> run.Outcome:
                schema = {"schema": f"d{block[0]}_{number}"}
                return run.run(tmp_path / str(number), [smaller], target | schema, planted)

            kept.append(keep.save(folder, keep.shrink(seed, fresh[0], again), "_shrunk"))
        pytest.fail("\n".join([*map(str, fresh), "kept:", *map(str, kept)]), pytrace=False)

    @pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("*.json")), ids=lambda path: path.stem)
    def test_kept(self, path: Path, target: dict[str, Any], planted: dict[str, str], tmp_path: Path) -> None:
        outcome = run.run(tmp_path, [plan.load(path)], target | {"schema": f"kept_{path.stem}"}, planted)
        assert not outcome.differences, "\n".join(map(str, outcome.differences))


@pytest.mark.parametrize("number", range(len(draw_families.FAMILIES)))
def test_a_number_always_draws_the_same_sequence(number: int) -> None:
    """A sequence is also the same after it was written to JSON and read again."""
    drawn = draw.drawn(1, number)
    assert drawn == draw.drawn(1, number) != draw.drawn(2, number)
    assert plan.from_json(plan.to_json(drawn)) == drawn
