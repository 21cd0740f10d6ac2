CALL `lake`.sys.compact(table => 'lake.shop.orders', where => 'day < \'2024-01-01\'')
