"""`dbt-paimon plan`: what a run would do with each node, without doing it."""
