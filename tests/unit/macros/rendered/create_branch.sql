CALL `lake`.sys.create_tag(table => 'lake.shop.orders', tag => 'branch_dev', snapshot => 3L, time_retained => '36500 d');
CALL `lake`.sys.create_branch(table => 'lake.shop.orders', branch => 'dev', tag => 'branch_dev')
