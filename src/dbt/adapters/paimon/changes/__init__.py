"""Incremental reads: the rows of a table that changed, and how far a model has read them."""
