select count(*) from `lake`.`shop`.`orders` where  cast((status = 'gone' or amount is null
) as string) <=> 'true';

-- spark.paimon.commit.user-prefix=dbtd
delete from `lake`.`shop`.`orders` where  cast((status = 'gone' or amount is null
) as string) <=> 'true'
