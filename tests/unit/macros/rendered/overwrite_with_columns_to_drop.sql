insert overwrite `lake`.`shop's`.`order items` (`Order Id`, `a``b`, `select`, `old ``one```, `b`)
select `Order Id`, `a``b`, `select`, null as `old ``one```, null as `b`
from (
select * from landing
)
