select count(*) from `lake`.`shop`.`orders` where  cast((status = 'gone' or amount is null
) as string) <=> 'true';

delete from `lake`.`shop`.`orders` where  cast((status = 'gone' or amount is null
) as string) <=> 'true'
