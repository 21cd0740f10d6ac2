merge into `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
using (
  select `id`, `day`, `status`, `amount`, 'insert' as __dbt_change
  from (select *, cast(null as decimal(10,2)) as `amount` from (
select * from landing
))
  union all
  select DBT_INTERNAL_DEST.`id`, cast(null as date), cast(null as string), cast(null as decimal(10,2)), 'delete'
  from `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
  where exists (
    select 1 from (select true as __dbt_delete_key_1) as __dbt_delete_keys
    where __dbt_delete_keys.__dbt_delete_key_1 = (cast(DBT_INTERNAL_DEST.`day` as date) >= date '2024-01-01' and cast(DBT_INTERNAL_DEST.`day` as date) < date '2024-01-02')
  )
  and not exists (
    select 1 from (
select * from landing
) as __dbt_batch
    where __dbt_batch.`id` = DBT_INTERNAL_DEST.`id`
  )
  and (DBT_INTERNAL_DEST.amount > 10 or DBT_INTERNAL_DEST.status is null)
  and (DBT_INTERNAL_DEST.day > date '2024-01-01')
) as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.`id` = DBT_INTERNAL_DEST.`id`
when matched and DBT_INTERNAL_SOURCE.__dbt_change = 'delete' then delete
when matched then update set
  `id` = DBT_INTERNAL_SOURCE.`id`,
  `day` = DBT_INTERNAL_SOURCE.`day`,
  `status` = DBT_INTERNAL_SOURCE.`status`,
  `amount` = DBT_INTERNAL_SOURCE.`amount`
when not matched and DBT_INTERNAL_SOURCE.__dbt_change = 'insert' then
  insert (`id`, `day`, `status`, `amount`) values (DBT_INTERNAL_SOURCE.`id`, DBT_INTERNAL_SOURCE.`day`, DBT_INTERNAL_SOURCE.`status`, DBT_INTERNAL_SOURCE.`amount`)
