"""The command `dbt-paimon` as it starts: imports neither dbt nor Spark, which cost seconds, before it has to."""
