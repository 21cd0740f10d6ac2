"""Reads of the rows that changed, and how far a model has read."""
