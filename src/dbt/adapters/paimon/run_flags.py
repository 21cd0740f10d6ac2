"""dbt's flags `--empty` and `--sample`, with which a run writes only part of the rows."""

from __future__ import annotations

from typing import Any


def is_empty_run() -> bool:
    """Whether dbt runs with `--empty`, which builds tables without rows."""
    from dbt.flags import get_flags

    return bool(getattr(get_flags(), "EMPTY", False))


def sample_of_run() -> tuple[Any, Any] | None:
    """Start and end of the run's `--sample`; None without it."""
    from dbt.flags import get_flags

    sample = getattr(get_flags(), "SAMPLE", None)
    return None if sample is None else (sample.start, sample.end)


def writes_partial_rows() -> bool:
    """Whether a run reads only part of its inputs."""
    return is_empty_run() or sample_of_run() is not None
