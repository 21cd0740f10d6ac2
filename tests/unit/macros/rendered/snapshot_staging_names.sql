with source_data as (
  select *,
        id as dbt_unique_key
,
    changed_at as __dbt_updated_at,
    md5(coalesce(replace(replace(cast(id as string), '~', '~~'), '|', '~|'), '~0') || '|' || coalesce(replace(replace(cast(changed_at as string), '~', '~~'), '|', '~|'), '~0')) as __dbt_scd_id
  from (
select * from landing
  )
),
snapshotted_data as (
  select *,
        id as dbt_unique_key
  from `lake`.`shop`.`orders`
  where until is null
),
ended as (
  select dbt_unique_key, count(*) as __dbt_count,
    max(greatest(since, cast(until as timestamp))) as __dbt_last,
    max(cast(until as timestamp)) > greatest(cast(
    now()
 as timestamp), max(since))
      as __dbt_is_open
  from (select *,
        id as dbt_unique_key
 from `lake`.`shop`.`orders`)
  where not (until is null)
  group by dbt_unique_key
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
 as timestamp)) as as_of,
  if(__dbt_change in ('insert', 'update'), if((snapshotted_data.version_id is null and ended.__dbt_count is null) or (source_data.__dbt_updated_at > coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last)) or (coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last)) is null and source_data.__dbt_updated_at is not null)), source_data.__dbt_updated_at, greatest(cast(
    now()
 as timestamp), coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last)))), greatest(cast(
    now()
 as timestamp), coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last)))) as since,
  case __dbt_change
    when 'update' then cast(if((snapshotted_data.version_id is null and ended.__dbt_count is null) or (source_data.__dbt_updated_at > coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last)) or (coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last)) is null and source_data.__dbt_updated_at is not null)), source_data.__dbt_updated_at, greatest(cast(
    now()
 as timestamp), coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last)))) as timestamp)
    when 'delete' then cast(greatest(cast(
    now()
 as timestamp), coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last))) as timestamp)
    else cast(null as timestamp)
  end as until,
  case
    when __dbt_change in ('update', 'delete') then snapshotted_data.version_id
    when __dbt_change = 'record' then md5(coalesce(replace(replace(cast(snapshotted_data.version_id as string), '~', '~~'), '|', '~|'), '~0') || '|' || coalesce(replace(replace(cast(
    now()
 as string), '~', '~~'), '|', '~|'), '~0'))
    when (snapshotted_data.version_id is null and ended.__dbt_count is null) or ((source_data.__dbt_updated_at > coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last)) or (coalesce(snapshotted_data.since, if(ended.__dbt_is_open, cast(raise_error('snapshot orders: the last version of a key ends in the future, so dbt_valid_to_current or the session time zone has changed. Restore it, or write the new end into the current versions: update shop.orders set until = <new> where until = <old>') as timestamp), ended.__dbt_last)) is null and source_data.__dbt_updated_at is not null)) and source_data.__dbt_updated_at = cast(cast(source_data.__dbt_updated_at as string) as timestamp)) then source_data.__dbt_scd_id
    else md5(coalesce(replace(replace(cast(source_data.__dbt_scd_id as string), '~', '~~'), '|', '~|'), '~0') || '|' || coalesce(replace(replace(cast(
    now()
 as string), '~', '~~'), '|', '~|'), '~0'))
  end as version_id,
  if(__dbt_change = 'record', 'True', 'False') as gone
from source_data
full outer join snapshotted_data
  on snapshotted_data.dbt_unique_key <=> source_data.dbt_unique_key
left join ended
  on snapshotted_data.version_id is null and ended.dbt_unique_key <=> source_data.dbt_unique_key
lateral view explode(
  case
    when snapshotted_data.version_id is null then array('insert')
    when source_data.__dbt_scd_id is null then
      if(snapshotted_data.gone <=> 'True', array(), array('delete', 'record'))
    when (snapshotted_data.since < source_data.changed_at)
      or snapshotted_data.as_of < source_data.__dbt_updated_at
      or (snapshotted_data.as_of is null and source_data.__dbt_updated_at is not null) or snapshotted_data.gone <=> 'True'
    then array('update', 'insert')
    else array()
  end
) changes as __dbt_change
