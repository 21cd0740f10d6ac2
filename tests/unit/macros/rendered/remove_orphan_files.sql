select substring(cast(convert_timezone('UTC', java_method('java.time.ZoneId', 'systemDefault'), (timestamp_ntz '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, unix_micros(timestamp '2024-01-01 00:00:00') * 0.000001))) as string), 1, 19) from (values (1)) as one_row;

CALL `lake`.sys.remove_orphan_files(table => 'lake.shop.orders', older_than => '2024-01-01 00:00:00', dry_run => true)
