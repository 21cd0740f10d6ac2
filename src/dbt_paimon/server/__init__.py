"""`dbt-paimon server`: starts and stops warm local Spark servers; `process` runs one."""
