merge into `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
using (
  select `id`, `day`, `status`, `amount`, 'insert' as __dbt_change
  from (
    select *, row_number() over (
      partition by `id`
      order by `day` desc, `amount` desc
    ) as __dbt_rank
    from (
select * from landing
)
  ) where __dbt_rank = 1
  union all
  select DBT_INTERNAL_DEST.`id`, cast(null as date), cast(null as string), cast(null as decimal(10,2)), 'delete'
  from `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
  where exists (
    select 1 from (select distinct `day` as __dbt_delete_key_1
    from (
select * from landing
)) as __dbt_delete_keys
    where __dbt_delete_keys.__dbt_delete_key_1 = DBT_INTERNAL_DEST.`day`
  )
  and not exists (
    select 1 from (
select * from landing
) as __dbt_batch
    where __dbt_batch.`id` = DBT_INTERNAL_DEST.`id`
  )
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
