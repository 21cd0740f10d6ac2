alter table `lake`.`shop`.`orders` add columns (
  `day` date,
  `amount` decimal(10,2)
      );

alter table `lake`.`shop`.`orders` alter column `day` after `id`;

alter table `lake`.`shop`.`orders` unset tblproperties ('snapshot.num-retained.max', 'target-file-size');

alter table `lake`.`shop`.`orders` set tblproperties (
        'parquet.filter.dictionary.enabled' = 'false',
        'parquet.filter.stats.enabled' = 'false'
      );

alter table `lake`.`shop`.`orders` alter column `id` type bigint;

alter table `lake`.`shop`.`orders` alter column `status` type string;

alter table `lake`.`shop`.`orders` alter column `id` drop not null;

alter table `lake`.`shop`.`orders` alter column `status` drop not null;

alter table `lake`.`shop`.`orders` alter column `old ``one``` drop not null;

-- spark.sql.sources.partitionOverwriteMode=static
insert overwrite `lake`.`shop`.`orders` (`id`, `day`, `status`, `amount`, `old ``one```, `old`)
select `id`, `day`, `status`, `amount`, null as `old ``one```, null as `old`
from (
select * from landing
);

alter table `lake`.`shop`.`orders` drop columns (`old ``one```, `old`)
