create or replace view `lake`.`shop`.`failures` as
select 1 as id
