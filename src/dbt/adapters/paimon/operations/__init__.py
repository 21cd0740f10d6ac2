"""The operations of `dbt run-operation`, some of which also work in hooks."""
