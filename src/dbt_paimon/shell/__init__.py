"""`dbt-paimon shell`: a prompt that keeps Spark and the project loaded."""
