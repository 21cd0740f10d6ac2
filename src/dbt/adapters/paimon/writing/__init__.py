"""Writing rows: model queries, row checks, seeds, snapshots, Python models, staged tables and swaps."""
