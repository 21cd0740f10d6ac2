select * from `lake`.`shop`.`orders$branch_dev` as o
