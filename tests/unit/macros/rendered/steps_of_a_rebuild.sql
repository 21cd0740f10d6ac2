alter table `lake`.`shop`.`orders` add columns (
  `day` date,
  `amount` decimal(10,2)
      );

alter table `lake`.`shop`.`orders` alter column `day` after `id`;

alter table `lake`.`shop`.`orders` unset tblproperties ('snapshot.num-retained.max', 'target-file-size');

alter table `lake`.`shop`.`orders` set tblproperties (
        'commit.user-prefix' = 'it\'s me',
        'parquet.filter.dictionary.enabled' = 'false',
        'parquet.filter.stats.enabled' = 'false',
        'write-only' = 'true'
      );

alter table `lake`.`shop`.`orders` alter column `id` type bigint;

alter table `lake`.`shop`.`orders` alter column `status` type string;

alter table `lake`.`shop`.`orders` alter column `id` drop not null;

alter table `lake`.`shop`.`orders` alter column `status` drop not null;

alter table `lake`.`shop`.`orders` alter column `old ``one``` drop not null;

-- the rows;

alter table `lake`.`shop`.`orders` drop columns (`old ``one```, `old`);

alter table `lake`.`shop`.`orders` alter column `status` comment 'it\'s open, or \\closed';

comment on table `lake`.`shop`.`orders` is 'It\'s new'
