select * from `lake`.`shop`.`orders` version as of 3 as o
