"""`dbt-paimon plan`: what a run would do with each node."""
