analyze table `lake`.`shop`.`orders` compute statistics for columns `id`, `a``b`
