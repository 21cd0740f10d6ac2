CALL `lake`.sys.expire_snapshots(table => 'lake.shop.orders', retain_max => 10, older_than => TIMESTAMP '2024-01-01 00:00:00', max_deletes => 5)
