CALL `lake`.sys.compact(table => 'lake.shop.orders')
