merge into `lake`.`shop's`.`order items` as DBT_INTERNAL_DEST
using (
select * from landing
) as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.`Order Id` = DBT_INTERNAL_DEST.`Order Id` and DBT_INTERNAL_SOURCE.`a``b` = DBT_INTERNAL_DEST.`a``b`
when matched then update set
  `select` = DBT_INTERNAL_SOURCE.`select`
when not matched
then
  insert (`Order Id`, `a``b`, `select`) values (DBT_INTERNAL_SOURCE.`Order Id`, DBT_INTERNAL_SOURCE.`a``b`, DBT_INTERNAL_SOURCE.`select`)
