-- spark.sql.legacy.storeAnalyzedPlanForView=true
cache table `orders__dbt_tmp_unique` as
select * from (
select * from landing
);

`orders__dbt_tmp_unique`
