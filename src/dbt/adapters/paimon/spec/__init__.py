"""Reads a model's config into a validated `TableSpec`, its incremental strategy and its maintenance policy."""
