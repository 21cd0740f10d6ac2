"""Incremental reads: the changed rows of tables, and the positions of models in them."""
