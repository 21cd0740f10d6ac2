select count(*) from `lake`.`shop`.`orders` where  cast((status = 'gone' or amount is null
) as string) <=> 'true';

-- spark.sql.sources.partitionOverwriteMode=static
-- spark.paimon.commit.user-prefix=dbtd
insert overwrite `lake`.`shop`.`orders` select `id`, `day`, `status`, `amount`, `op` from `lake`.`shop`.`orders` where not ( cast((status = 'gone' or amount is null
) as string) <=> 'true')
