"""The chain of exceptions behind an error."""

from __future__ import annotations

from collections.abc import Iterator


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, its cause or context, and so on down the chain."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
