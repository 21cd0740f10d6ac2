-- spark.sql.sources.partitionOverwriteMode=dynamic
insert overwrite `lake`.`shop`.`orders` (`id`, `day`, `status`, `amount`)
select `id`, `day`, `status`, `amount`
from `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
where not coalesce(cast(DBT_INTERNAL_DEST.`day` as date) >= date '2024-01-01' and cast(DBT_INTERNAL_DEST.`day` as date) < date '2024-01-02', false)
  and exists (select 1 from (
select * from landing
) as __dbt_batch where __dbt_batch.`day` <=> DBT_INTERNAL_DEST.`day`)
union all
select `id`, `day`, `status`, `amount`
from (
select * from landing
) as __dbt_batch
where not exists (select 1 from `lake`.`shop`.`orders` as DBT_INTERNAL_DEST where not coalesce(cast(DBT_INTERNAL_DEST.`day` as date) >= date '2024-01-01' and cast(DBT_INTERNAL_DEST.`day` as date) < date '2024-01-02', false) and __dbt_batch.`id` = DBT_INTERNAL_DEST.`id` and __dbt_batch.`day` = DBT_INTERNAL_DEST.`day`)
