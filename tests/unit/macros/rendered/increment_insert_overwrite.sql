-- spark.sql.sources.partitionOverwriteMode=dynamic
insert overwrite `lake`.`shop`.`orders` (`id`, `day`, `status`, `amount`)
select `id`, `day`, `status`, `amount`
from (
select * from landing
)
