"""Values of Scala, as py4j gives them."""

from __future__ import annotations

from typing import Any


def elements(sequence: Any) -> list[Any]:
    """The elements of a sequence of Scala's, in their order."""
    return [sequence.apply(index) for index in range(sequence.size())]
