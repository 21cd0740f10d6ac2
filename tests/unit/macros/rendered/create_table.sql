create table `lake`.`shop`.`orders` (
  `id` bigint not null,
  `day` date,
  `status` string comment 'it\'s open, or \\closed',
  `amount` decimal(10,2)
)
using paimon
partitioned by (`day`)
comment 'Orders of the shop\'s \\ own'
tblproperties (
  'primary-key' = 'id,day',
  'bucket' = '4',
  'deletion-vectors.enabled' = 'true',
  'commit.user-prefix' = 'it\'s me'
)
