insert into `lake`.`shop's`.`order items` (`Order Id`, `a``b`, `select`)
select `Order Id`, `a``b`, `select`
from (
select * from landing
)
