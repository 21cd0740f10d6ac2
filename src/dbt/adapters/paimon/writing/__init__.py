"""How rows get into a table: queries, seeds, staging and swaps."""
