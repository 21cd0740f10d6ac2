"""The plan of a node: what a run does with its table, as data. A run executes it, and `dbt-paimon plan` prints it."""
