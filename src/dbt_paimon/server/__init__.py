"""`dbt-paimon server`: starts and stops warm local Sparks, and the process of one."""
