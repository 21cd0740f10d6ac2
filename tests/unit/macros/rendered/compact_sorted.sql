CALL `lake`.sys.compact(table => 'lake.shop.orders', order_strategy => 'zorder', order_by => 'id,status')
