merge into `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
using (
  select `id`, `day`, `status`, `amount`, 'insert' as __dbt_change, null as __dbt_delete_key_1
  from (
select * from landing
)
  union all
  select cast(null as bigint), cast(null as date), cast(null as string), cast(null as decimal(10,2)), 'delete', __dbt_delete_key_1
  from (select true as __dbt_delete_key_1)
) as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.__dbt_delete_key_1 = (cast(DBT_INTERNAL_DEST.`day` as date) >= date '2024-01-01' and cast(DBT_INTERNAL_DEST.`day` as date) < date '2024-01-02')
when matched then delete
when not matched and DBT_INTERNAL_SOURCE.__dbt_change = 'insert' then
  insert (`id`, `day`, `status`, `amount`) values (DBT_INTERNAL_SOURCE.`id`, DBT_INTERNAL_SOURCE.`day`, DBT_INTERNAL_SOURCE.`status`, DBT_INTERNAL_SOURCE.`amount`)
