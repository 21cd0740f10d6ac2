insert into `lake`.`shop`.`orders` (`id`, `day`, `amount`)
select `id`, `day`, `amount`
from (
select * from landing
)
