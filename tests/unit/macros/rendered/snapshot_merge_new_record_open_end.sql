merge into `lake`.`shop`.`orders` as DBT_INTERNAL_DEST
using (
select * from staged
) as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.dbt_scd_id = DBT_INTERNAL_DEST.dbt_scd_id
when matched
  and (DBT_INTERNAL_DEST.dbt_valid_to is null or DBT_INTERNAL_DEST.dbt_valid_to = cast(timestamp '9999-12-31' as timestamp))
  and DBT_INTERNAL_SOURCE.dbt_change_type in ('update', 'delete')
then update set dbt_valid_to = DBT_INTERNAL_SOURCE.dbt_valid_to
when not matched and DBT_INTERNAL_SOURCE.dbt_change_type = 'insert' then insert (`id`, `day`, `status`, `amount`, `dbt_scd_id`, `dbt_updated_at`, `dbt_valid_from`, `dbt_valid_to`, `dbt_is_deleted`) values (DBT_INTERNAL_SOURCE.`id`, DBT_INTERNAL_SOURCE.`day`, DBT_INTERNAL_SOURCE.`status`, DBT_INTERNAL_SOURCE.`amount`, DBT_INTERNAL_SOURCE.`dbt_scd_id`, DBT_INTERNAL_SOURCE.`dbt_updated_at`, DBT_INTERNAL_SOURCE.`dbt_valid_from`, DBT_INTERNAL_SOURCE.`dbt_valid_to`, DBT_INTERNAL_SOURCE.`dbt_is_deleted`)
