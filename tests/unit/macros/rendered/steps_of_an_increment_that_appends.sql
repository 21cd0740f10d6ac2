alter table `lake`.`shop`.`orders` add columns (
  `day` date,
  `amount` decimal(10,2)
      );

alter table `lake`.`shop`.`orders` unset tblproperties ('snapshot.num-retained.max', 'target-file-size');

alter table `lake`.`shop`.`orders` set tblproperties (
        'commit.user-prefix' = 'it\'s me',
        'write-only' = 'true'
      );

-- the rows;

alter table `lake`.`shop`.`orders` alter column `status` comment 'it\'s open, or \\closed';

comment on table `lake`.`shop`.`orders` is 'It\'s new'
