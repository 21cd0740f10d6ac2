create table `lake`.`shop's`.`order items` (
  `Order Id` bigint not null,
  `a``b` string,
  `select` int
)
using paimon
