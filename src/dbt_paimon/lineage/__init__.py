"""Column lineage from compiled SQL, and what a change of a project affects."""
