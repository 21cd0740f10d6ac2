CALL `lake`.sys.create_tag(table => 'lake.shop.orders', tag => 'branch_dev', snapshot => 3L);
CALL `lake`.sys.create_branch(table => 'lake.shop.orders', branch => 'dev', tag => 'branch_dev')
