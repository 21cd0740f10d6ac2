CALL `lake`.sys.compact(table => 'lake.shop.orders', where => '(`day` = DATE \'2024-01-01\') OR (`day` = DATE \'2024-01-02\')')
