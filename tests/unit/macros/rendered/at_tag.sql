select * from `lake`.`shop`.`orders` version as of 'it\'s done' as o
