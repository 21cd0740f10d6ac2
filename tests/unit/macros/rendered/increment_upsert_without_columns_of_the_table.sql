insert into `lake`.`shop`.`orders` (`id`, `day`, `status`)
select `id`, `day`, `status`
from (
select * from landing
)
