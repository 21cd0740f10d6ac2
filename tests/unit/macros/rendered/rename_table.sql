alter table `lake`.`shop's`.`order items` rename to `shop's`.`other items`
