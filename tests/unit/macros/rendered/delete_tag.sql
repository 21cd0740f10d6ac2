CALL `lake`.sys.delete_tag(table => 'lake.shop.orders', tag => 'done')
