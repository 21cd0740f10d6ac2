analyze table `lake`.`shop`.`orders` compute statistics for all columns
