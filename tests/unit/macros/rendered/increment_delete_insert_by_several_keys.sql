merge into `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
using (
  select `id`, `day`, `status`, `amount`, 'insert' as __dbt_change, null as __dbt_delete_key_1, null as __dbt_delete_key_2
  from (select *, cast(null as decimal(10,2)) as `amount` from (
select * from landing
))
  union all
  select cast(null as bigint), cast(null as date), cast(null as string), cast(null as decimal(10,2)), 'delete', __dbt_delete_key_1, __dbt_delete_key_2
  from (select distinct `id` as __dbt_delete_key_1, `day` as __dbt_delete_key_2
    from (
select * from landing
))
) as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.__dbt_delete_key_1 = DBT_INTERNAL_DEST.`id`
  and DBT_INTERNAL_SOURCE.__dbt_delete_key_2 = DBT_INTERNAL_DEST.`day`
  and (DBT_INTERNAL_DEST.amount > 10 or DBT_INTERNAL_DEST.status is null)
  and (DBT_INTERNAL_DEST.day > date '2024-01-01')
when matched then delete
when not matched and DBT_INTERNAL_SOURCE.__dbt_change = 'insert' then
  insert (`id`, `day`, `status`, `amount`) values (DBT_INTERNAL_SOURCE.`id`, DBT_INTERNAL_SOURCE.`day`, DBT_INTERNAL_SOURCE.`status`, DBT_INTERNAL_SOURCE.`amount`)
