create or replace temporary view `a``b` as
select 1
