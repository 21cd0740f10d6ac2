"""Shrinks a plan that shows a difference: to fewer views and fewer changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from differential.views_plan import Plan, names
from differential.views_run import Difference, Outcome

_TRIES: Final = 40


def shrunk(found: Difference, again: Callable[[Plan], Outcome]) -> Difference:
    """The same difference in a smaller plan.

    Args:
        found: the difference.
        again: runs a plan.
    """
    best, tries = found, 0
    smaller = True
    while smaller and tries < _TRIES:
        smaller = False
        for plan in _smaller(best):
            tries += 1
            same = [each for each in again(plan).differences if (each.view, each.kind) == (found.view, found.kind)]
            if same:
                best, smaller = same[0], True
                break
            if tries >= _TRIES:
                break
    return best


def _smaller(found: Difference) -> Iterator[Plan]:
    """Smaller plans, much smaller ones first."""
    plan = found.plan
    needed = _needed(plan, found.view)
    views = tuple(view for view in plan.views if view.name in needed)
    steps = plan.steps[: found.step + 1]
    own = tuple(
        tuple(change for change in step if change.table in needed or change.table == found.view) for step in steps
    )
    if (views, own) != (plan.views, plan.steps):
        yield replace(plan, views=views, steps=own)
    for at, step in enumerate(steps):
        if at and at < len(steps) - 1:
            yield replace(plan, steps=(*steps[:at], *steps[at + 1 :]))
        for left_out in range(len(step)):
            less = (*step[:left_out], *step[left_out + 1 :])
            yield replace(plan, steps=(*steps[:at], less, *steps[at + 1 :]))


def _needed(plan: Plan, name: str) -> set[str]:
    """A view and everything that it reads."""
    found = {name}
    view = plan.view(name)
    for read in names(view.sql) if view is not None else ():
        found |= _needed(plan, read)
    return found
