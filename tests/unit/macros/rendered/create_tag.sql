CALL `lake`.sys.create_tag(table => 'lake.shop.orders', tag => 'it\'s done', snapshot => 3L, time_retained => '7 d')
