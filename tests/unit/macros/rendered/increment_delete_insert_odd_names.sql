merge into `lake`.`shop's`.`order items` as DBT_INTERNAL_DEST
using (
  select `Order Id`, `a``b`, `select`, 'insert' as __dbt_change, null as __dbt_delete_key_1, null as __dbt_delete_key_2
  from (
select * from landing
)
  union all
  select cast(null as bigint), cast(null as string), cast(null as int), 'delete', __dbt_delete_key_1, __dbt_delete_key_2
  from (select distinct `Order Id` as __dbt_delete_key_1, `a``b` as __dbt_delete_key_2
    from (
select * from landing
))
) as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.__dbt_delete_key_1 = DBT_INTERNAL_DEST.`Order Id`
  and DBT_INTERNAL_SOURCE.__dbt_delete_key_2 = DBT_INTERNAL_DEST.`a``b`
when matched then delete
when not matched and DBT_INTERNAL_SOURCE.__dbt_change = 'insert' then
  insert (`Order Id`, `a``b`, `select`) values (DBT_INTERNAL_SOURCE.`Order Id`, DBT_INTERNAL_SOURCE.`a``b`, DBT_INTERNAL_SOURCE.`select`)
