"""Random queries of materialized views and random changes to their sources; a sequence is one view."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from differential import faults, keep, views_plan, views_run, views_shrink

REGRESSIONS = Path(__file__).parent / "regressions" / "views"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "number" in metafunc.fixturenames:
        option = metafunc.config.getoption
        first, plans = option("--views-from"), -(-option("--views") // views_run.VIEWS)
        metafunc.parametrize("number", range(first, first + plans))


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Iterator[Path]]:
    """Empty folders for projects."""
    yield (tmp_path / str(number) for number in count())
    shutil.rmtree(tmp_path, ignore_errors=True)


class TestViews:
    def test_each_is_its_query(
        self,
        number: int,
        request: pytest.FixtureRequest,
        target: dict[str, Any],
        folders: Iterator[Path],
        monkeypatch: pytest.MonkeyPatch,
        record_property: Any,
    ) -> None:
        option = request.config.getoption
        if planted := option("--planted"):
            faults.plant(planted, monkeypatch)
        seed, done = option("--sequence-seed"), (f"views {number}",)
        state = keep.State(option("--sequence-state"), seed)
        figures, differences = state.figures(done), []
        if figures is None:
            plan = views_run.drawn(seed, number)
            schema = {"schema": f"views_{number}"}
            outcome = views_run.run(next(folders), plan, target | schema, first_only=bool(planted))
            figures, differences = outcome.figures, outcome.differences
            figures["differences"] = len(differences)
        print(dict(figures))
        for name, value in figures.items():
            record_property(f"views {name}", value)
        if not differences:
            state.done(done, figures)
            return
        kept = request.config.rootpath / "target" / "differential" / f"views_{number}.json"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(views_plan.to_json(plan), encoding="utf-8")
        if option("--shrink"):
            schemas = ({"schema": f"views_{number}_{attempt}"} for attempt in count())
            shrunk = views_shrink.shrunk(
                differences[0], lambda smaller: views_run.run(next(folders), smaller, target | next(schemas))
            )
            kept.write_text(views_plan.to_json(shrunk.plan), encoding="utf-8")
            differences = [shrunk]
        text = "\n\n".join(f"seed {seed}, {found}" for found in differences)
        kept.with_suffix(".txt").write_text(text, encoding="utf-8")
        pytest.fail(f"{text}\n\nkept: {kept}", pytrace=False)

    @pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("*.json")), ids=lambda path: path.stem)
    def test_kept(self, path: Path, target: dict[str, Any], folders: Iterator[Path]) -> None:
        plan = views_plan.from_json(path.read_text(encoding="utf-8"))
        outcome = views_run.run(next(folders), plan, target | {"schema": f"views_kept_{path.stem}"})
        assert not outcome.differences, "\n".join(map(str, outcome.differences))


def test_a_number_always_draws_the_same_plan() -> None:
    drawn = views_run.drawn(1, 3)
    assert drawn == views_run.drawn(1, 3) != views_run.drawn(2, 3)
    assert views_plan.from_json(views_plan.to_json(drawn)) == drawn
