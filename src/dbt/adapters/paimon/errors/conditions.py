"""Recognizes what the errors of Spark, Hive and Paimon say about a table or a schema."""

from __future__ import annotations

_NOT_FOUND = (
    "SCHEMA_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
    "NoSuchNamespaceException",
    "NoSuchDatabaseException",
    "NoSuchTableException",
)


def is_not_found(exc: BaseException) -> bool:
    """Whether Spark reports that a table or a schema does not exist."""
    return any(sign in str(exc) for sign in _NOT_FOUND)


def is_not_empty(exc: Exception) -> bool:
    """Whether a schema was not dropped because it is not empty (from Spark, Hive or Paimon)."""
    return any(sign in str(exc) for sign in ("SCHEMA_NOT_EMPTY", "is not empty", "non-empty"))
