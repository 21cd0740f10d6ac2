alter table `lake`.`shop`.`orders__dbt_deletes` alter column `offset` type bigint;

insert into `lake`.`shop`.`orders__dbt_deletes` (`id`, `changed_at`, `offset`)
select `id`, `changed_at`, `offset`
from (
select * from landing
)
where `op` = '-D';
insert into `lake`.`shop`.`orders` (`id`, `day`, `status`, `amount`, `op`, `changed_at`, `offset`)
select `id`, `day`, `status`, `amount`, `op`, `changed_at`, `offset`
from (
select * from landing
) as __dbt_changes
left anti join `lake`.`shop`.`orders__dbt_deletes` as __dbt_deletes
  on __dbt_deletes.`id` = __dbt_changes.`id` and __dbt_changes.`op` <> '-D'
  and struct(__dbt_deletes.`changed_at`, __dbt_deletes.`offset`)
   >= struct(__dbt_changes.`changed_at`, __dbt_changes.`offset`)
