drop database if exists `lake`.`shop's` cascade;


