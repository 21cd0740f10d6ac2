with source_data as (
  select *,
            id as dbt_unique_key_1 ,
            day as dbt_unique_key_2
,
    now()
 as __dbt_updated_at,
    md5(coalesce(replace(replace(cast(id as string), '~', '~~'), '|', '~|'), '~0') || '|' || coalesce(replace(replace(cast(day as string), '~', '~~'), '|', '~|'), '~0') || '|' || coalesce(replace(replace(cast(
    now()
 as string), '~', '~~'), '|', '~|'), '~0')) as __dbt_scd_id
  from (
select * from landing
  )
),
snapshotted_data as (
  select *,
            id as dbt_unique_key_1 ,
            day as dbt_unique_key_2
  from `lake`.`shop`.`orders`
  where dbt_valid_to is null or dbt_valid_to = cast(timestamp '9999-12-31' as timestamp)
),
ended as (
  select dbt_unique_key_1, dbt_unique_key_2, count(*) as __dbt_count,
    max(greatest(dbt_valid_from, cast(dbt_valid_to as timestamp))) as __dbt_last,
    max(cast(dbt_valid_to as timestamp)) > greatest(cast(
    now()
 as timestamp), max(dbt_valid_from))
      as __dbt_is_open
  from (select *,
            id as dbt_unique_key_1 ,
            day as dbt_unique_key_2
 from `lake`.`shop`.`orders`)
  where not (dbt_valid_to is null or dbt_valid_to = cast(timestamp '9999-12-31' as timestamp))
  group by dbt_unique_key_1, dbt_unique_key_2
)
select
  if(__dbt_change = 'record', 'insert', __dbt_change) as dbt_change_type,
  if(__dbt_change = 'record', snapshotted_data.`id`, source_data.`id`) as `id`,
  if(__dbt_change = 'record', snapshotted_data.`day`, source_data.`day`) as `day`,
  if(__dbt_change = 'record', cast(snapshotted_data.`status` as string), source_data.`status`) as `status`,
  if(__dbt_change = 'record', snapshotted_data.`amount`, source_data.`amount`) as `amount`,
  source_data.`changed_at`,
  if(__dbt_change in ('insert', 'update'), source_data.__dbt_updated_at, cast(
    now()
 as timestamp)) as dbt_updated_at,
  if(__dbt_change in ('insert', 'update'), if((snapshotted_data.dbt_scd_id is null and ended.__dbt_count is null) or (source_data.__dbt_updated_at > coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last)) or (coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last)) is null and source_data.__dbt_updated_at is not null)), source_data.__dbt_updated_at, greatest(cast(
    now()
 as timestamp), coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last)))), greatest(cast(
    now()
 as timestamp), coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last)))) as dbt_valid_from,
  case __dbt_change
    when 'update' then cast(if((snapshotted_data.dbt_scd_id is null and ended.__dbt_count is null) or (source_data.__dbt_updated_at > coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last)) or (coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last)) is null and source_data.__dbt_updated_at is not null)), source_data.__dbt_updated_at, greatest(cast(
    now()
 as timestamp), coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last)))) as timestamp)
    when 'delete' then cast(greatest(cast(
    now()
 as timestamp), coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last))) as timestamp)
    else cast(timestamp '9999-12-31' as timestamp)
  end as dbt_valid_to,
  case
    when __dbt_change in ('update', 'delete') then snapshotted_data.dbt_scd_id
    when __dbt_change = 'record' then md5(coalesce(replace(replace(cast(snapshotted_data.dbt_scd_id as string), '~', '~~'), '|', '~|'), '~0') || '|' || coalesce(replace(replace(cast(
    now()
 as string), '~', '~~'), '|', '~|'), '~0'))
    when (snapshotted_data.dbt_scd_id is null and ended.__dbt_count is null) or ((source_data.__dbt_updated_at > coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last)) or (coalesce(snapshotted_data.dbt_valid_from, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set dbt_valid_to = <new> where dbt_valid_to = <old>') as timestamp), ended.__dbt_last)) is null and source_data.__dbt_updated_at is not null)) and source_data.__dbt_updated_at = cast(cast(source_data.__dbt_updated_at as string) as timestamp)) then source_data.__dbt_scd_id
    else md5(coalesce(replace(replace(cast(source_data.__dbt_scd_id as string), '~', '~~'), '|', '~|'), '~0') || '|' || coalesce(replace(replace(cast(
    now()
 as string), '~', '~~'), '|', '~|'), '~0'))
  end as dbt_scd_id,
  if(__dbt_change = 'record', 'True', 'False') as dbt_is_deleted
from source_data
full outer join snapshotted_data
  on snapshotted_data.dbt_unique_key_1 <=> source_data.dbt_unique_key_1 and snapshotted_data.dbt_unique_key_2 <=> source_data.dbt_unique_key_2
left join ended
  on snapshotted_data.dbt_scd_id is null and ended.dbt_unique_key_1 <=> source_data.dbt_unique_key_1 and ended.dbt_unique_key_2 <=> source_data.dbt_unique_key_2
lateral view explode(
  case
    when snapshotted_data.dbt_scd_id is null then array('insert')
    when source_data.__dbt_scd_id is null then
      if(snapshotted_data.dbt_is_deleted <=> 'True', array(), array('delete', 'record'))
    when (snapshotted_data.`status` != source_data.`status`
        or
        (
            ((snapshotted_data.`status` is null) and not (source_data.`status` is null))
            or
            ((not snapshotted_data.`status` is null) and (source_data.`status` is null))
        ) or snapshotted_data.`amount` != source_data.`amount`
        or
        (
            ((snapshotted_data.`amount` is null) and not (source_data.`amount` is null))
            or
            ((not snapshotted_data.`amount` is null) and (source_data.`amount` is null))
        )) or snapshotted_data.dbt_is_deleted <=> 'True'
    then array('update', 'insert')
    else array()
  end
) changes as __dbt_change
