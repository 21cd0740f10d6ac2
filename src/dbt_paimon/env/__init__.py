"""`dbt-paimon env`: environments over production's tables, and their promotion."""
