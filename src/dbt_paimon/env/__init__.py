"""`dbt-paimon env`: builds changes beside production, and publishes them."""
