"""Concurrent writers of a table: locks, commit conflicts, and which statements may be repeated."""
