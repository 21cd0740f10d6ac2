merge into `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
using (select *, cast(null as string) as `status`, cast(null as decimal(10,2)) as `amount` from (
select * from landing
)) as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.`id` = DBT_INTERNAL_DEST.`id`
when matched then update set
  `day` = DBT_INTERNAL_SOURCE.`day`
when not matched
then
  insert (`id`, `day`, `status`, `amount`) values (DBT_INTERNAL_SOURCE.`id`, DBT_INTERNAL_SOURCE.`day`, DBT_INTERNAL_SOURCE.`status`, DBT_INTERNAL_SOURCE.`amount`)
