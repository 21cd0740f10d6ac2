create or replace view `lake`.`shop`.`open orders` (`id`, `a``b`, `status` comment 'it\'s open, or \\closed') comment 'It\'s new' as
select 1 as id
