"""Sequences drawn by hypothesis: the n-th of a seed is always the same, and a failing one can be shrunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from differential import draw_families
from differential.chooser import Chooser
from differential.plan import Plan

T = TypeVar("T")
ZONES = ("UTC", "Asia/Shanghai", "UTC", "America/New_York", "Asia/Kolkata")
# The sequences of a block share a dbt project and a session's time zone.
BLOCK = 15
# The first example of hypothesis is always the simplest one; the second depends on the seed.
_DRAWN = settings(
    max_examples=2,
    phases=(Phase.generate,),
    database=None,
    deadline=None,
    derandomize=False,
    suppress_health_check=list(HealthCheck),
)
# The number decides the kind of sequence, so that a few sequences cover all kinds.
_FAMILIES = draw_families.FAMILIES


def zone_of(number: int) -> str:
    return ZONES[number // BLOCK % len(ZONES)]


def family_of(number: int) -> str:
    names = list(_FAMILIES)
    return names[number % len(names)]


@st.composite
def plans(draw: Callable[..., Any], number: int) -> Plan:
    chooser = Chooser(draw)
    family = family_of(number)
    plan = _FAMILIES[family](chooser, zone_of(number))
    return replace(plan, number=number)


def drawn(base: int, number: int) -> Plan:
    """The sequence with this number."""
    found: list[Plan] = []
    _search(base, number, found.append, _DRAWN)
    return found[-1]


def shrunk(base: int, number: int, fails: Callable[[Plan], bool], examples: int = 200) -> Plan:
    """The smallest plan found by hypothesis that fails in the same way.

    Args:
        base: the seed of all sequences.
        number: the sequence that failed.
        fails: whether a plan fails in the same way.
        examples: how many plans to try at most.
    """
    last: list[Plan] = [drawn(base, number)]
    tried = 0

    def check(plan: Plan) -> None:
        nonlocal tried
        tried += 1
        # The first example is always the simplest one, not this sequence.
        if tried > 1 and tried <= examples and fails(plan):
            last.append(plan)
            raise AssertionError

    try:
        _search(
            base, number, check,
            settings(_DRAWN, phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False),
        )  # fmt: skip
    except BaseException:  # noqa: BLE001 - hypothesis raises the plan's error, or Flaky after the last try
        return last[-1]
    return last[-1]


def _search(base: int, number: int, use: Callable[[Plan], None], how: settings) -> None:
    @seed(base * 1_000_003 + number)
    @how
    @given(plans(number))
    def run(plan: Plan) -> None:
        use(plan)

    run()


def blocks(first: int, count: int) -> list[Sequence[int]]:
    """The numbers of sequences in blocks, each with one project and one time zone."""
    end = first + count
    starts = [first, *range((first // BLOCK + 1) * BLOCK, end, BLOCK)]
    return [range(start, min(end, (start // BLOCK + 1) * BLOCK)) for start in starts if start < end]


def by_zone(numbers: Sequence[int]) -> list[list[int]]:
    """The numbers of some sequences, grouped by time zone."""
    zones = dict.fromkeys(map(zone_of, numbers))
    return [[number for number in numbers if zone_of(number) == zone] for zone in zones]
