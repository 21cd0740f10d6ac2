"""Existing tables: how the catalog describes them, and how they differ from a `TableSpec`."""
