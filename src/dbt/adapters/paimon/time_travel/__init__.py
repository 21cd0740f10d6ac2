"""Older states of tables, tags, branches and audits."""
