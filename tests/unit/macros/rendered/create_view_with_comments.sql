create or replace view `lake`.`shop`.`open orders` (`id`, `a``b`, `status` comment 'it\'s open, or \\closed') comment 'It\'s new' as
select `id`, `a``b`, `status` from (
select 1 as id
)
