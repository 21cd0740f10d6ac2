"""The command `dbt-paimon`. Its startup code does not import dbt and Spark, which would take seconds."""
