"""What `dbt run-operation` and hooks call."""
