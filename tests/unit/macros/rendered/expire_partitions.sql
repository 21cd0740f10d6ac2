select (unix_timestamp(convert_timezone('UTC', java_method('java.time.ZoneId', 'systemDefault'), (timestamp_ntz '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, unix_micros(now()) * 0.000001)))) - unix_timestamp(cast(now() as timestamp_ntz))) from (values (1)) as one_row;

CALL `lake`.sys.expire_partitions(table => 'lake.shop.orders', expiration_time => '30 d', timestamp_formatter => 'yyyy-MM-dd', expire_strategy => 'update-time')
