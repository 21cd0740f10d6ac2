create or replace view `lake`.`shop`.`open orders` as
select 1 as id
