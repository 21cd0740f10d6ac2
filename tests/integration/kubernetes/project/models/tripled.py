def model(dbt, session):
    dbt.config(materialized="table")
    from pyspark.sql import functions as f

    # A UDF runs in the executors' Python.
    @f.udf("long")
    def tripled(number):
        return number * 3

    return dbt.ref("upserted").select("id", tripled("id").alias("tripled"))
