drop table if exists `lake`.`shop's`.`order items`
