"""Several writers of one table: locks, conflicts and what is sent again."""
