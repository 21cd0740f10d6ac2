"""What `dbt source freshness` needs besides dbt's own queries. Runs no statement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dbt.adapters.base.relation import BaseRelation


def batches(sources: Iterable[BaseRelation]) -> list[list[BaseRelation]]:
    """The sources in batches in which each has a schema and name of its own, by which dbt finds them, ignoring case."""
    found: list[dict[tuple[str, str], BaseRelation]] = []
    for source in sources:
        key = ((source.schema or "").lower(), (source.identifier or "").lower())
        batch = next((each for each in found if key not in each), None)
        if batch is None:
            found.append(batch := {})
        batch[key] = source
    return [list(batch.values()) for batch in found]


def no_last_change(source: Any) -> str:
    """The error message for a source whose last change cannot be read from metadata."""
    return (
        f"{source} is not an existing Paimon table, so its metadata has no time of the last change. If it is "
        "another table or a view, set `loaded_at_field` or `loaded_at_query`. If it is a Kafka or file source, remove "
        "`freshness`: there is no table to query."
    )
