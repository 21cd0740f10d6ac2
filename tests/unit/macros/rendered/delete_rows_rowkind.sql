select count(*) from `lake`.`shop`.`orders` where  cast((status = 'gone' or amount is null
) as string) <=> 'true';

-- spark.paimon.commit.user-prefix=dbtd
insert into `lake`.`shop`.`orders__dbt_deletes` (`id`, `day`) select `id`, `day` from `lake`.`shop`.`orders` where  cast((status = 'gone' or amount is null
) as string) <=> 'true';

-- spark.paimon.commit.user-prefix=dbtd
insert into `lake`.`shop`.`orders` select `id`, `day`, `status`, `amount`, '-D' from `lake`.`shop`.`orders` where  cast((status = 'gone' or amount is null
) as string) <=> 'true'
