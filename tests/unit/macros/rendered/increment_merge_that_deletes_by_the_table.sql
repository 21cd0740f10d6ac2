merge into `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
using (
select * from landing
) as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.`id` = DBT_INTERNAL_DEST.`id`
when matched and dbt_internal_dest.status = 'gone'
then delete
when matched then update set
  `day` = DBT_INTERNAL_SOURCE.`day`,
  `status` = DBT_INTERNAL_SOURCE.`status`,
  `amount` = DBT_INTERNAL_SOURCE.`amount`
when not matched
then
  insert (`id`, `day`, `status`, `amount`) values (DBT_INTERNAL_SOURCE.`id`, DBT_INTERNAL_SOURCE.`day`, DBT_INTERNAL_SOURCE.`status`, DBT_INTERNAL_SOURCE.`amount`)
