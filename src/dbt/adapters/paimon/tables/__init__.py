"""Existing tables: what the catalog knows of them, and how they differ from a `TableSpec`."""
