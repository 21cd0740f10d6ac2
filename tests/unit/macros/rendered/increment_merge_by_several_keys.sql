merge into `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
using (
select * from landing
) as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.`id` = DBT_INTERNAL_DEST.`id` and DBT_INTERNAL_SOURCE.`day` = DBT_INTERNAL_DEST.`day`
  and (DBT_INTERNAL_DEST.amount > 10 or DBT_INTERNAL_DEST.status is null)
  and (DBT_INTERNAL_DEST.day > date '2024-01-01')
when matched then update set
  `status` = DBT_INTERNAL_SOURCE.`status`,
  `amount` = DBT_INTERNAL_SOURCE.`amount`
when not matched
then
  insert (`id`, `day`, `status`, `amount`) values (DBT_INTERNAL_SOURCE.`id`, DBT_INTERNAL_SOURCE.`day`, DBT_INTERNAL_SOURCE.`status`, DBT_INTERNAL_SOURCE.`amount`)
