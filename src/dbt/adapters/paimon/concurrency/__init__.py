"""Several writers of one table: locks, commit conflicts, and which statements may be repeated."""
