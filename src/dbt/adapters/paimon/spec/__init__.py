"""Turns a model's config into a validated `TableSpec`, an incremental strategy and a maintenance policy."""
