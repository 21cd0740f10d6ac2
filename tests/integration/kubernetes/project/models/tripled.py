def model(dbt, session):
    dbt.config(materialized="table")
    from pyspark.sql import functions as f

    # In the Python of the executors.
    @f.udf("long")
    def tripled(number):
        return number * 3

    return dbt.ref("upserted").select("id", tripled("id").alias("tripled"))
