"""Parses partitions as system tables show them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from dbt.adapters.paimon.metadata.schemas import Schema


def partition_values(text: str, partition_by: Sequence[str], types: Mapping[str, str]) -> dict[str, str] | None:
    """Parse the `partition` column of a system table into values by column; None if it cannot be parsed.

    Depending on its version, Paimon writes '[a, 1]' with dates as numbers of days, '{a, 1}' or 'dt=a/hh=1'
    (PartitionsTable.toRow, FilesTable.toRow).
    """
    if text[:1] in ("[", "{") and text[-1:] in ("]", "}"):
        inner = text[1:-1]
        parts = [inner] if len(partition_by) == 1 else inner.split(", ")
    else:
        named = "/".join(f"{re.escape(name)}=(.*)" for name in partition_by)
        found = re.fullmatch(named, text, re.DOTALL)
        parts = list(found.groups()) if found else []
    if len(parts) != len(partition_by):
        return None
    values = dict(zip(partition_by, parts, strict=True))
    for name, value in values.items():
        if types.get(name) == "date" and re.fullmatch(r"-?\d+", value):
            values[name] = (date(1970, 1, 1) + timedelta(days=int(value))).isoformat()
    return values


def partition_name(text: str, schema: Schema) -> str:
    """Convert a partition of any Paimon version to the form `day=2024-01-01/hour=1`; '' without partition keys."""
    if not schema.partition_keys:
        return ""
    values = partition_values(text, schema.partition_keys, schema.type_names)
    return "/".join(f"{name}={value}" for name, value in values.items()) if values else text
