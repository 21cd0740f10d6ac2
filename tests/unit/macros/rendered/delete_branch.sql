CALL `lake`.sys.delete_branch(table => 'lake.shop.orders', branch => 'dev')
