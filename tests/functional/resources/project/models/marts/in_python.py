def model(dbt, session):
    dbt.config(materialized="table", primary_key="customer")
    return dbt.ref("totals").selectExpr("customer", "amount * 2 as doubled")
