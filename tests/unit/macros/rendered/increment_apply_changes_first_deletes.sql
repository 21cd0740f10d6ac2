create table if not exists `lake`.`shop`.`orders__dbt_deletes` (
  `id` bigint not null,
  `changed_at` timestamp not null,
  `offset` bigint not null
)
using paimon
comment 'The deletes that dbt has applied to orders: changes older than these come too late.'
tblproperties (
  'primary-key' = 'id',
  'sequence.field' = 'changed_at,offset',
  'dbt.state-version' = '1'
);

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
